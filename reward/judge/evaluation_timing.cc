// The timing half of Evaluation: windows, solos, rounds, starts, and what follows from them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "reward/judge/evaluation.h"

namespace touchstone {
namespace {

// Outputs in windows are compared with the reference's, whose own error the tasks keep below a quarter of a tolerance.
constexpr double kAgainstReference = 1.25;
constexpr double kTickUs = 20'000;  // how late the kernel's CPU accounting may be, with room
constexpr int kWarmups = 2;
constexpr int kBaselineWindows = 4;
constexpr double kSoloOverrun = 1.25;  // of the budget, for single calls that are still to be made

}  // namespace

double Evaluation::ChargedUs(const Turn& turn) const {
  return turn.elapsed_us + std::max(0.0, turn.handover_us - input_.host.handover_us);
}

void Evaluation::SizeWindow(double baseline_call_us, double candidate_call_us) {
  baseline_call_us_ = baseline_call_us;
  candidate_call_us_ = candidate_call_us;
  const WindowPlan plan = PlanWindow(layout_, input_.profile, input_.host, baseline_call_us, candidate_call_us);
  calls_ = plan.calls;
  sets_ = plan.sets;
  record_->cache_state = plan.hot ? "hot" : "cold";
  record_->resolution_limited = plan.resolution_limited;
}

Result<double> Evaluation::MedianOfBaseline(int windows) {
  std::vector<double> times;
  // No candidate can learn from inputs that come again.
  Status status;
  const auto slots = NewCalls(calls_, &status);
  TOUCHSTONE_RETURN_IF_ERROR(status);
  for (int i = 0; i < windows; ++i) {
    TOUCHSTONE_ASSIGN(const Turn turn, RunSlots(baseline(), slots, Limit(baseline_call_us_, calls_)));
    if (!turn.Completed()) return ReferenceFailed(baseline(), turn);
    if (turn.handover_us <= input_.host.handover_bound_us) {
      times.push_back(ChargedUs(turn) / static_cast<double>(calls_));
    }
  }
  return times.empty() ? 0 : Median(times);
}

Evaluation::Step Evaluation::MeasureBaselineAlone() {
  if (input_.profile.max_rounds == 0) return std::optional<Fate>();
  SizeWindow(baseline_call_us_, baseline_call_us_);
  TOUCHSTONE_RETURN_IF_ERROR(SetUpWindows());
  TOUCHSTONE_ASSIGN(const double warm_us, MedianOfBaseline(1));
  if (warm_us > 0) SizeWindow(warm_us, warm_us);
  TOUCHSTONE_RETURN_IF_ERROR(SetUpWindows());
  TOUCHSTONE_ASSIGN(record_->baseline_alone_us, MedianOfBaseline(kBaselineWindows));
  return std::optional<Fate>();
}

// The same windows as in the rounds, once the candidate is gone: what of a difference to before is the host's.
Evaluation::Step Evaluation::MeasureBaselineAfter() {
  if (input_.profile.max_rounds == 0) return std::optional<Fate>();
  // Where nothing but calling is measured, empty calls say so.
  const std::vector<uint32_t> sets(calls_, 0);
  const auto empty = candidate_->Run(Opcode::kNull, sets, kShortestLimit, choices_, 0);
  if (empty.ok() && empty->Completed()) {
    record_->launch_bound = empty->elapsed_us > 0.5 * candidate_call_us_ * static_cast<double>(calls_);
  }
  candidate_.reset();
  TOUCHSTONE_ASSIGN(record_->baseline_after_us, MedianOfBaseline(kBaselineWindows));
  return std::optional<Fate>();
}

Evaluation::Step Evaluation::Round(int start, int round, bool solo, bool baseline_first, bool record_it) {
  RoundRecord row;
  row.start = start;
  row.round = round;
  row.solo = solo;
  row.baseline_first = baseline_first;
  row.calls = static_cast<int>(solo ? 1 : calls_);
  Status status;
  const auto slots = NewCalls(static_cast<size_t>(row.calls), &status);
  TOUCHSTONE_RETURN_IF_ERROR(status);
  const auto sets = SetsOf(slots);
  const auto limit = Limit(baseline_call_us_, slots.size());

  const auto run_baseline = [&]() -> Result<Turn> {
    const auto cpu_before = candidate_->CpuTime();
    auto turn = RunSlots(baseline(), slots, limit);
    const auto cpu_after = candidate_->CpuTime();
    if (cpu_before && cpu_after && candidate_->freezes() && *cpu_after - *cpu_before > std::chrono::microseconds(200)) {
      row.is_void = true;
      row.void_reason = "the candidate's box used CPU time in the baseline's turn";
    }
    return turn;
  };
  Turn baseline_turn;
  Turn candidate_turn;
  if (baseline_first) {
    TOUCHSTONE_ASSIGN(baseline_turn, run_baseline());
  }
  TOUCHSTONE_ASSIGN(candidate_turn, RunSlots(*candidate_, slots, limit));
  TOUCHSTONE_ASSIGN(auto ended, FateOfTurn(*candidate_, candidate_turn, Phase::kMeasure, limit, Detail::kClass));
  if (ended) return ended;
  if (!baseline_first) {
    TOUCHSTONE_ASSIGN(baseline_turn, run_baseline());
  }
  if (!baseline_turn.Completed()) return ReferenceFailed(baseline(), baseline_turn);
  Turn reference_turn = baseline_turn;
  if (!baseline_is_reference()) {
    TOUCHSTONE_ASSIGN(reference_turn, RunSlots(*input_.reference, slots, input_.profile.call_timeout * row.calls));
    if (!reference_turn.Completed()) return ReferenceFailed(*input_.reference, reference_turn);
  }

  row.baseline_us = ChargedUs(baseline_turn) / row.calls;
  row.candidate_us = ChargedUs(candidate_turn) / row.calls;
  row.baseline_handover_us = baseline_turn.handover_us;
  row.candidate_handover_us = candidate_turn.handover_us;
  row.candidate_cpu_us = candidate_turn.cpu_us;
  if (std::max(row.baseline_handover_us, row.candidate_handover_us) > input_.host.handover_bound_us) {
    row.is_void = true;
    row.void_reason = "the hand-over took longer than its calibrated bound";
  }
  if (!record_it) {
    baseline_call_us_ = row.baseline_us;
    candidate_call_us_ = row.candidate_us;
  } else {
    record_->rounds.push_back(row);
  }
  if (!candidate_turn.tiles_final) {
    return std::optional<Fate>(
        Fate{EvalStatus::kCheating, "an output changed after the candidate had said that it was done", ""});
  }
  std::vector<std::vector<Expected>> expected(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    TOUCHSTONE_ASSIGN(expected[i], checker_->Expect(*input_.reference, reference_turn, sets, i, false, i));
  }
  return checker_->CheckCalls(*candidate_, candidate_turn, slots, expected, kAgainstReference, solo ? "solo" : "window",
                              round);
}

SummaryOptions Evaluation::MakeSummaryOptions() const {
  SummaryOptions options;
  options.confidence = input_.profile.confidence;
  options.between_start_sd = input_.between_start_sd;
  options.target_half_width = input_.profile.target_half_width;
  options.solos_required = input_.profile.solo_rounds > 0;
  std::memcpy(&options.seed, input_.key.data(), sizeof(options.seed));
  return options;
}

Evaluation::Step Evaluation::MeasureStarts() {
  if (input_.profile.max_rounds == 0) return std::optional<Fate>();
  TOUCHSTONE_ASSIGN(layout_, MakeLayout(task_, input_.dims));
  checker_->SetReferenceReports({});
  const MeasurementProfile& profile = input_.profile;
  const auto budget_ms = static_cast<double>(profile.total_budget.count());
  for (int start = 0; start < profile.starts; ++start) {
    if (start > 0) {
      candidate_.reset();  // killed and seen gone before the next one starts
      TOUCHSTONE_ASSIGN(auto fate, LoadCandidate());
      if (fate) return fate;
    }
    for (int i = 0; i < kWarmups; ++i) {
      SizeWindow(baseline_call_us_, candidate_call_us_);
      TOUCHSTONE_RETURN_IF_ERROR(SetUpWindows());
      TOUCHSTONE_ASSIGN(auto fate, Round(start, -1, false, true, false));
      if (fate) return fate;
    }
    SizeWindow(baseline_call_us_, candidate_call_us_);
    TOUCHSTONE_RETURN_IF_ERROR(SetUpWindows());

    const auto cpu_before = candidate_->CpuTime();
    const size_t first_row = record_->rounds.size();
    int solos = (profile.solo_rounds + profile.starts - 1) / profile.starts;
    bool baseline_first = false;
    int valid = 0;
    for (int round = 0; round < 3 * profile.max_rounds && valid < profile.max_rounds; ++round) {
      // A-B-B-A: the order of a pair is drawn, its second half is turned round.
      baseline_first = round % 2 == 0 ? !profile.random_order || choices_.Below(2) == 0 : !baseline_first;
      // Solos lie at random places between the windows; what is left of them comes at the end.
      const auto rounds_left = static_cast<uint64_t>(std::max(1, profile.min_rounds - valid));
      for (uint64_t due = choices_.Below(2 * static_cast<uint64_t>(solos) / rounds_left + 2); due > 0 && solos > 0;
           --due) {
        TOUCHSTONE_ASSIGN(auto fate, Round(start, round, true, choices_.Below(2) == 0, true));
        if (fate) return fate;
        --solos;
      }
      TOUCHSTONE_ASSIGN(auto fate, Round(start, round, false, baseline_first, true));
      if (fate) return fate;
      if (!record_->rounds.back().is_void) ++valid;
      // Who was slow while windows were sized and is not any more gets no short ones.
      if (2 * record_->rounds.back().candidate_us < candidate_call_us_) {
        SizeWindow(baseline_call_us_, record_->rounds.back().candidate_us);
        TOUCHSTONE_RETURN_IF_ERROR(SetUpWindows());
      }
      if (valid >= profile.min_rounds && round % 2 == 1) {
        const auto starts = WindowsByStart(record_->rounds);
        const SpeedupEstimate estimate =
            EstimateSpeedup(starts, MakeSpeedupOptions(MakeSummaryOptions(), starts.size()));
        if (estimate.interval_stated && estimate.half_width <= profile.target_half_width) break;
      }
      // Also with too few valid rounds: else who makes them void would own the slot.
      if (SpentMs() > budget_ms * (start + 1) / profile.starts) break;
    }
    for (; solos > 0 && SpentMs() < kSoloOverrun * budget_ms * (start + 1) / profile.starts; --solos) {
      TOUCHSTONE_ASSIGN(auto fate, Round(start, -1, true, choices_.Below(2) == 0, true));
      if (fate) return fate;
    }

    const auto cpu_after = candidate_->CpuTime();
    if (cpu_before && cpu_after) {
      double allowed_us = kTickUs;
      for (size_t i = first_row; i < record_->rounds.size(); ++i) {
        const RoundRecord& row = record_->rounds[i];
        allowed_us += task_.policy.threads * 1.1 * (row.candidate_us * row.calls + 2 * row.candidate_handover_us + 200);
      }
      const auto used_us = static_cast<double>((*cpu_after - *cpu_before).count());
      if (used_us > allowed_us) {
        record_->evidence.push_back({"extra_cpu",
                                     Evidence::Severity::kCondemns,
                                     "the box used more CPU time than its threads can in its turns",
                                     {{"used_us", used_us}, {"allowed_us", allowed_us}}});
        return std::optional<Fate>(
            Fate{EvalStatus::kCheating, "more CPU time was used than the task's threads allow", ""});
      }
    }
  }
  return std::optional<Fate>();
}

void Evaluation::Conclude() {
  if (input_.profile.max_rounds == 0) {
    record_->status = EvalStatus::kSuccess;
    record_->reason = "correct; nothing was timed";
    return;
  }
  const auto voids =
      std::count_if(record_->rounds.begin(), record_->rounds.end(), [](const RoundRecord& r) { return r.is_void; });
  if (voids > 0) {
    record_->evidence.push_back({"void_rounds",
                                 Evidence::Severity::kInfo,
                                 "rounds were disturbed and do not count",
                                 {{"rounds", static_cast<double>(voids)}}});
  }
  const auto bytes = task_.floor_bytes.empty() ? Result<int64_t>(0) : Evaluate(task_.floor_bytes, input_.dims);
  const auto flops = task_.floor_flops.empty() ? Result<int64_t>(0) : Evaluate(task_.floor_flops, input_.dims);
  const double threads = task_.policy.threads;
  if (bytes.ok() && input_.host.bandwidth_gb_s > 0) {
    record_->floor_us = static_cast<double>(*bytes) / (input_.host.bandwidth_gb_s * threads * 1e3);
  }
  if (flops.ok() && input_.host.flops_gflop_s > 0) {
    record_->floor_us =
        std::max(record_->floor_us, static_cast<double>(*flops) / (input_.host.flops_gflop_s * threads * 1e3));
  }
  Summarize(MakeSummaryOptions(), *record_);
}

}  // namespace touchstone

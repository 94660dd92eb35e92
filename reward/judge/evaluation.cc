#include "reward/judge/evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace touchstone {
namespace {

constexpr size_t kTiles = 64;
constexpr std::chrono::microseconds kShortestLimit{200'000};
// Outputs in windows are compared with the reference's, whose own error the tasks keep below a quarter of a tolerance.
constexpr double kAgainstReference = 1.25;
constexpr double kTickUs = 20'000;  // how late the kernel's CPU accounting may be, with room
constexpr int kWarmups = 2;
constexpr int kBaselineWindows = 4;
constexpr double kSoloOverrun = 1.25;  // of the budget, for single calls that are still to be made

std::vector<uint32_t> SetsOf(std::span<const CallSlot> slots) {
  std::vector<uint32_t> sets;
  sets.reserve(slots.size());
  for (const CallSlot& slot : slots) sets.push_back(slot.set);
  return sets;
}

Error ReferenceFailed(Side& side, const Turn& turn) {
  const auto fate = FateOfTurn(side, turn, Phase::kCorrectness, std::chrono::seconds(0));
  const std::string why = !fate.ok() ? fate.error().message()
                          : *fate    ? (*fate)->reason + " " + (*fate)->diagnostics
                                     : "";
  return Error(ErrorCode::kUnavailable, "the reference did not run: " + why);
}

// A hidden shape: each declared dim drawn uniformly from its multiples in range, the others as they are.
DimValues DrawDims(const Task& task, DimValues dims, ChoiceStream& choices) {
  for (const HiddenDim& hidden : task.hidden_shapes) {
    for (auto& [name, value] : dims) {
      if (name != hidden.dim) continue;
      const int64_t steps = (hidden.high - hidden.low) / hidden.multiple + 1;
      value = hidden.low + hidden.multiple * static_cast<int64_t>(choices.Below(static_cast<uint64_t>(steps)));
    }
  }
  return dims;
}

double ToMs(RawClock::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

}  // namespace

Evaluation::Evaluation(Device& device, EvaluationInput input)
    : device_(device),
      input_(std::move(input)),
      task_(*input_.task),
      choices_(DeriveStreamKey(input_.key, StreamPurpose::kChoice, 0, 0)) {}

double Evaluation::SpentMs() const { return ToMs(RawClock::now() - started_); }

std::chrono::microseconds Evaluation::Limit(double baseline_call_us, size_t calls) const {
  const auto relative =
      std::chrono::microseconds(static_cast<int64_t>(std::min(1e12, input_.profile.runtime_cap * baseline_call_us)) *
                                static_cast<int64_t>(calls));
  const std::chrono::microseconds absolute = input_.profile.call_timeout * static_cast<int64_t>(calls);
  return std::min(std::max(relative, kShortestLimit), absolute);
}

std::vector<CallSlot> Evaluation::NewCalls(size_t count, Status* status) {
  device_.Forget();
  std::vector<uint32_t> sets(sets_);
  for (size_t i = 0; i < sets_; ++i) sets[i] = static_cast<uint32_t>(i);
  std::vector<CallSlot> slots;
  for (size_t i = 0; i < count; ++i) {
    std::swap(sets[i], sets[i + choices_.Below(sets_ - i)]);
    auto inputs = MakeInputs(task_, layout_, input_.key, next_call_, {});
    if (!inputs.ok()) {
      *status = inputs.error();
      return {};
    }
    slots.push_back({next_call_++, sets[i], std::move(*inputs)});
  }
  return slots;
}

Result<Turn> Evaluation::RunSlots(Side& side, std::span<const CallSlot> slots, std::chrono::microseconds limit) {
  for (const CallSlot& slot : slots) {
    TOUCHSTONE_RETURN_IF_ERROR(side.Prepare(slot.set, slot.inputs, input_.key, slot.call));
  }
  return side.Run(Opcode::kRun, SetsOf(slots), limit, choices_, kTiles);
}

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

Status Evaluation::SetUpWindows() {
  TOUCHSTONE_RETURN_IF_ERROR(input_.reference->SetUp(layout_, sets_));
  if (own_baseline_) TOUCHSTONE_RETURN_IF_ERROR(own_baseline_->SetUp(layout_, sets_));
  if (candidate_) TOUCHSTONE_RETURN_IF_ERROR(candidate_->SetUp(layout_, sets_));
  return {};
}

Evaluation::Step Evaluation::PrepareBaseline() {
  TOUCHSTONE_ASSIGN(layout_, MakeLayout(task_, input_.dims));
  if (input_.baseline_artifact >= 0) {
    TOUCHSTONE_ASSIGN(own_baseline_, input_.start_native());
    TOUCHSTONE_ASSIGN(const Turn turn, own_baseline_->Load(input_.baseline_artifact, input_.profile.load_timeout));
    if (!turn.Completed()) return Error(ErrorCode::kInvalidArgument, "the baseline could not be loaded");
  }
  sets_ = 1;
  TOUCHSTONE_RETURN_IF_ERROR(SetUpWindows());
  for (int i = 0; i < 3; ++i) {
    Status status;
    const auto slots = NewCalls(1, &status);
    TOUCHSTONE_RETURN_IF_ERROR(status);
    TOUCHSTONE_ASSIGN(const Turn turn, RunSlots(baseline(), slots, input_.profile.call_timeout));
    if (!turn.Completed()) return ReferenceFailed(baseline(), turn);
    baseline_call_us_ = turn.elapsed_us;
  }
  return std::optional<Fate>();
}

Result<double> Evaluation::MedianOfBaseline(int windows) {
  std::vector<double> times;
  for (int i = 0; i < windows; ++i) {
    Status status;
    const auto slots = NewCalls(calls_, &status);
    TOUCHSTONE_RETURN_IF_ERROR(status);
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

Evaluation::Step Evaluation::LoadCandidate() {
  TOUCHSTONE_ASSIGN(candidate_, input_.start_native());
  record_->layers = candidate_->box().layers().Names();
  record_->level = ToString(LevelReached(candidate_->box().layers()));
  TOUCHSTONE_ASSIGN(const Turn turn, candidate_->Load(input_.artifact, input_.profile.load_timeout));
  return FateOfTurn(*candidate_, turn, Phase::kLoad, input_.profile.load_timeout);
}

Evaluation::Step Evaluation::Trial(const DimValues& dims, const DistributionOverrides& overrides,
                                   const std::string& kind, int trial) {
  TOUCHSTONE_ASSIGN(layout_, MakeLayout(task_, dims));
  sets_ = 1;
  TOUCHSTONE_RETURN_IF_ERROR(SetUpWindows());
  device_.Forget();
  CallSlot slot{next_call_++, 0, {}};
  TOUCHSTONE_ASSIGN(slot.inputs, MakeInputs(task_, layout_, input_.key, slot.call, overrides));
  const std::vector<CallSlot> slots{slot};
  const std::vector<uint32_t> sets{0};
  Side& reference = *input_.reference;
  constexpr uint64_t kOracleSlot = uint64_t{1} << 32;
  constexpr uint64_t kReferenceSlot = kOracleSlot + 1;

  TOUCHSTONE_RETURN_IF_ERROR(reference.Prepare(0, slot.inputs, input_.key, slot.call));
  TOUCHSTONE_ASSIGN(const Turn oracle_turn,
                    reference.Run(Opcode::kOracle, sets, input_.profile.call_timeout, choices_, 0));
  if (!oracle_turn.Completed()) return ReferenceFailed(reference, oracle_turn);
  TOUCHSTONE_ASSIGN(const auto oracle, checker_->Expect(reference, oracle_turn, sets, 0, true, kOracleSlot));
  TOUCHSTONE_ASSIGN(const Turn reference_turn, RunSlots(reference, slots, input_.profile.call_timeout));
  if (!reference_turn.Completed()) return ReferenceFailed(reference, reference_turn);
  TOUCHSTONE_ASSIGN(const auto plain, checker_->Expect(reference, reference_turn, sets, 0, false, kReferenceSlot));
  TOUCHSTONE_ASSIGN(auto reports, checker_->Measure(plain, oracle, layout_));
  for (const CompareReport& report : reports) {
    if (!report.passed()) {
      return Error(ErrorCode::kInternal, "the reference of '" + task_.id + "' is out of its own tolerance");
    }
  }
  checker_->SetReferenceReports(std::move(reports));
  if (own_baseline_) {
    TOUCHSTONE_ASSIGN(const Turn turn, RunSlots(*own_baseline_, slots, input_.profile.call_timeout));
    if (!turn.Completed()) return Error(ErrorCode::kInvalidArgument, "the baseline fails in a correctness trial");
  }

  const auto limit = Limit(reference_turn.elapsed_us, 1);
  TOUCHSTONE_ASSIGN(const Turn turn, RunSlots(*candidate_, slots, limit));
  candidate_call_us_ = turn.elapsed_us;
  const Detail detail = kind == "declared" ? Detail::kAll : Detail::kClass;
  TOUCHSTONE_ASSIGN(auto ended, FateOfTurn(*candidate_, turn, Phase::kCorrectness, limit, detail));
  if (ended) return ended;
  if (!turn.tiles_final) {
    return std::optional<Fate>(
        Fate{EvalStatus::kCheating, "an output changed after the candidate had said that it was done", ""});
  }
  TOUCHSTONE_ASSIGN(auto fate, checker_->CheckCall(*candidate_, turn, sets, 0, slot, oracle, 1, kind, trial));
  if (!fate && task_.policy.deterministic && kind == "declared" && trial == 0) return CheckDeterminism(slot, turn);
  return fate;
}

Evaluation::Step Evaluation::CheckDeterminism(const CallSlot& slot, const Turn& first) {
  const std::vector<uint32_t> sets{slot.set};
  std::vector<std::unique_ptr<DeviceBlock>> before;
  for (size_t o = 0; o < layout_.outputs.size(); ++o) {
    TOUCHSTONE_ASSIGN(const StridedArray array, candidate_->Output(first, sets, 0, o, false));
    TOUCHSTONE_ASSIGN(auto copy,
                      device_.AllocatePrivate(std::max<uint64_t>(1, layout_.tensors[layout_.outputs[o]].bytes)));
    TOUCHSTONE_RETURN_IF_ERROR(device_.Gather(candidate_->block(), array, *copy, 0));
    before.push_back(std::move(copy));
  }
  const auto limit = Limit(baseline_call_us_, 1);
  TOUCHSTONE_ASSIGN(const Turn turn, RunSlots(*candidate_, std::vector<CallSlot>{slot}, limit));
  TOUCHSTONE_ASSIGN(auto ended, FateOfTurn(*candidate_, turn, Phase::kCorrectness, limit));
  if (ended) return ended;
  for (size_t o = 0; o < layout_.outputs.size(); ++o) {
    const TensorLayout& tensor = layout_.tensors[layout_.outputs[o]];
    TOUCHSTONE_ASSIGN(const StridedArray array, candidate_->Output(turn, sets, 0, o, false));
    // Bits, not values: compared as bytes.
    TOUCHSTONE_ASSIGN(const CompareReport report,
                      device_.CompareArrays(candidate_->block(), array.offset, DType::kUInt8, *before[o], 0,
                                            DType::kUInt8, tensor.bytes, Tolerance{}));
    if (!report.passed()) {
      return std::optional<Fate>(Fate{
          EvalStatus::kIncorrect, "two calls on equal inputs gave different bits, the task asks for equal ones", ""});
    }
  }
  return std::optional<Fate>();
}

Evaluation::Step Evaluation::CheckDeclared() {
  for (int trial = 0; trial < input_.profile.trials; ++trial) {
    TOUCHSTONE_ASSIGN(auto fate, Trial(input_.dims, {}, "declared", trial));
    if (fate) return fate;
  }
  return std::optional<Fate>();
}

Evaluation::Step Evaluation::CheckHidden() {
  const int shapes = task_.hidden_shapes.empty() ? 0 : input_.profile.hidden_shape_trials;
  for (int trial = 0; trial < shapes; ++trial) {
    TOUCHSTONE_ASSIGN(auto fate, Trial(DrawDims(task_, input_.dims, choices_), {}, "hidden_shape", trial));
    if (fate) return fate;
  }
  if (input_.profile.hidden_distributions) {
    for (size_t i = 0; i < task_.hidden_distributions.size(); ++i) {
      TOUCHSTONE_ASSIGN(auto fate,
                        Trial(input_.dims, task_.hidden_distributions[i], "hidden_distribution", static_cast<int>(i)));
      if (fate) return fate;
    }
  }
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
  for (size_t i = 0; i < slots.size(); ++i) {
    TOUCHSTONE_ASSIGN(const auto expected, checker_->Expect(*input_.reference, reference_turn, sets, i, false, i));
    TOUCHSTONE_ASSIGN(auto fate, checker_->CheckCall(*candidate_, candidate_turn, sets, i, slots[i], expected,
                                                     kAgainstReference, solo ? "solo" : "window", round));
    if (fate) return fate;
  }
  return std::optional<Fate>();
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

Status Evaluation::Run(EvalResult& record) {
  struct Named {
    const char* name;
    Phase phase;
    Step (Evaluation::*step)();
  };
  static constexpr Named kSteps[] = {
      {"baseline", Phase::kLoad, &Evaluation::PrepareBaseline},
      {"baseline_alone", Phase::kLoad, &Evaluation::MeasureBaselineAlone},
      {"load", Phase::kLoad, &Evaluation::LoadCandidate},
      {"correctness", Phase::kCorrectness, &Evaluation::CheckDeclared},
      {"hidden", Phase::kCorrectness, &Evaluation::CheckHidden},
      {"measure", Phase::kMeasure, &Evaluation::MeasureStarts},
      {"baseline_after", Phase::kMeasure, &Evaluation::MeasureBaselineAfter},
  };
  started_ = RawClock::now();
  record_ = &record;
  checker_.emplace(device_, task_, input_.key, record);
  record.calibration["handover_us"] = input_.host.handover_us;
  record.calibration["handover_bound_us"] = input_.host.handover_bound_us;
  record.calibration["handshake_us"] = input_.host.handshake_us;
  record.calibration["bandwidth_gb_s"] = input_.host.bandwidth_gb_s;
  record.calibration["flops_gflop_s"] = input_.host.flops_gflop_s;
  for (const Named& named : kSteps) {
    phase_ = named.phase;
    record.phase = ToString(named.phase);
    const auto step_started = RawClock::now();
    auto fate = (this->*named.step)();
    record.budget_ms[named.name] += ToMs(RawClock::now() - step_started);
    if (!fate.ok()) return fate.error().Within(named.name);
    if (*fate) {
      record.status = (*fate)->status;
      record.reason = (*fate)->reason;
      record.diagnostics = (*fate)->diagnostics;
      checker_->Finish();
      return {};
    }
  }
  record.phase = "verdict";
  Conclude();
  checker_->Finish();
  return {};
}

}  // namespace touchstone

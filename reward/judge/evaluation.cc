#include "reward/judge/evaluation.h"

#include <algorithm>
#include <utility>

namespace touchstone {
namespace {

constexpr size_t kTiles = 64;

// A hidden shape: each declared dim drawn uniformly from its multiples in range, the others as they are. `odd`: an odd
// multiple, where the range has one; two even draws in a row would miss every kernel that forgets the rest of a pair.
DimValues DrawDims(const Task& task, DimValues dims, ChoiceStream& choices, bool odd) {
  for (const HiddenDim& hidden : task.hidden_shapes) {
    for (auto& [name, value] : dims) {
      if (name != hidden.dim) continue;
      const int64_t steps = (hidden.high - hidden.low) / hidden.multiple + 1;
      value = hidden.low + hidden.multiple * static_cast<int64_t>(choices.Below(static_cast<uint64_t>(steps)));
      if (!odd || value / hidden.multiple % 2 != 0 || steps < 2) continue;
      value += value + hidden.multiple <= hidden.high ? hidden.multiple : -hidden.multiple;
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
  TOUCHSTONE_RETURN_IF_ERROR(side.Prepare(slots, input_.key));
  return side.Run(Opcode::kRun, SetsOf(slots), limit, choices_, kTiles);
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
  std::vector<CallSlot> slots{{next_call_++, 0, {}}};
  TOUCHSTONE_ASSIGN(slots[0].inputs, MakeInputs(task_, layout_, input_.key, slots[0].call, overrides));
  const std::vector<uint32_t> sets{0};
  Side& reference = *input_.reference;
  constexpr uint64_t kOracleSlot = uint64_t{1} << 32;
  constexpr uint64_t kReferenceSlot = kOracleSlot + 1;

  TOUCHSTONE_RETURN_IF_ERROR(reference.Prepare(slots, input_.key));
  TOUCHSTONE_ASSIGN(const Turn oracle_turn,
                    reference.Run(Opcode::kOracle, sets, input_.profile.call_timeout, choices_, 0));
  if (!oracle_turn.Completed()) return ReferenceFailed(reference, oracle_turn);
  TOUCHSTONE_ASSIGN(auto oracle, checker_->Expect(reference, oracle_turn, sets, 0, true, kOracleSlot));
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
  const std::vector<std::vector<Expected>> expected{std::move(oracle)};
  TOUCHSTONE_ASSIGN(auto fate, checker_->CheckCalls(*candidate_, turn, slots, expected, 1, kind, trial));
  if (!fate && task_.policy.deterministic && kind == "declared" && trial == 0) return CheckDeterminism(slots, turn);
  return fate;
}

Evaluation::Step Evaluation::CheckDeterminism(std::span<const CallSlot> slots, const Turn& first) {
  const auto sets = SetsOf(slots);
  std::vector<std::unique_ptr<DeviceBlock>> before;
  for (size_t o = 0; o < layout_.outputs.size(); ++o) {
    TOUCHSTONE_ASSIGN(const StridedArray array, candidate_->Output(first, sets, 0, o, false));
    TOUCHSTONE_ASSIGN(auto copy,
                      device_.AllocatePrivate(std::max<uint64_t>(1, layout_.tensors[layout_.outputs[o]].bytes)));
    TOUCHSTONE_RETURN_IF_ERROR(device_.Gather(candidate_->block(), array, *copy, 0));
    before.push_back(std::move(copy));
  }
  const auto limit = Limit(baseline_call_us_, 1);
  TOUCHSTONE_ASSIGN(const Turn turn, RunSlots(*candidate_, slots, limit));
  TOUCHSTONE_ASSIGN(auto ended, FateOfTurn(*candidate_, turn, Phase::kCorrectness, limit));
  if (ended) return ended;
  std::vector<ArrayPair> pairs;
  for (size_t o = 0; o < layout_.outputs.size(); ++o) {
    TOUCHSTONE_ASSIGN(const StridedArray array, candidate_->Output(turn, sets, 0, o, false));
    // Bits, not values: compared as bytes.
    pairs.push_back({&candidate_->block(), array.offset, DType::kUInt8, before[o].get(), 0, DType::kUInt8,
                     layout_.tensors[layout_.outputs[o]].bytes, Tolerance{}});
  }
  TOUCHSTONE_ASSIGN(const auto reports, device_.CompareArrays(pairs));
  if (std::all_of(reports.begin(), reports.end(), [](const CompareReport& report) { return report.passed(); })) {
    return std::optional<Fate>();
  }
  return std::optional<Fate>(
      Fate{EvalStatus::kIncorrect, "two calls on equal inputs gave different bits, the task asks for equal ones", ""});
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
    TOUCHSTONE_ASSIGN(auto fate, Trial(DrawDims(task_, input_.dims, choices_, trial == 0), {}, "hidden_shape", trial));
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

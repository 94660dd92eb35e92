#include "reward/judge/slot.h"

#include <algorithm>

#include "base/memfd.h"
#include "reward/judge/cpu/host_peaks.h"
#include "reward/judge/judge_wire.h"
#include "reward/task/catalog.h"
#include "reward/verdict/statistics.h"
#include "sandbox/runner/libraries/runtime_binds.h"

namespace touchstone {
namespace {

constexpr int kHandovers = 40;
constexpr int kSeries = 4;
// A hand-over is void beyond twice its calibrated p99, and never before this.
constexpr double kBoundFactor = 2;
constexpr double kSmallestBoundUs = 80;
constexpr int kAttempts = 2;

}  // namespace

Slot::Slot(JudgeOptions options, Spawner spawner)
    : options_(std::move(options)), spawner_(std::move(spawner)), device_(options_.cpus) {}

std::vector<int> Slot::SideCpus(int threads) const {
  std::vector<int> cpus;
  const size_t first = options_.cpus.size() > 1 ? 1 : 0;  // on one core judge and sides take turns
  for (size_t i = first; i < options_.cpus.size() && cpus.size() < static_cast<size_t>(threads); ++i) {
    cpus.push_back(options_.cpus[i]);
  }
  return cpus;
}

Result<SideSpec> Slot::MakeSpec(const std::string& program, int threads, const MeasurementProfile& profile) {
  SideSpec spec;
  const std::string path = options_.program_folder + "/" + program;
  spec.policy.minimum_level = options_.minimum_level;
  auto& binds = binds_[path];
  if (binds.empty()) {
    TOUCHSTONE_ASSIGN(binds, RuntimeBinds(path));
  }
  spec.policy.binds = binds;
  spec.limits.memory_bytes = profile.memory_bytes;
  spec.limits.cpu_time = std::chrono::duration_cast<std::chrono::seconds>(profile.total_budget) + std::chrono::hours(1);
  spec.limits.processes = static_cast<uint32_t>(threads) + 15;
  spec.limits.cpus = SideCpus(threads);
  const std::string count = std::to_string(threads);
  spec.program.argv = {path};
  spec.program.environment = {"PATH=/usr/bin", "LANG=C", "OMP_NUM_THREADS=" + count, "MKL_NUM_THREADS=" + count,
                              "OMP_PROC_BIND=false"};
  spec.spin = options_.cpus.size() > static_cast<size_t>(threads);
  spec.threads = threads;
  spec.block_bytes = profile.block_bytes;
  return spec;
}

Result<std::unique_ptr<Side>> Slot::StartNative(const Task& task, const MeasurementProfile& profile) {
  TOUCHSTONE_ASSIGN(SideSpec spec, MakeSpec("touchstone-runner-cpp", task.policy.threads, profile));
  spec.policy.disable_for_tests = options_.disable_for_tests;
  return Side::Start(spawner_, device_, spec);
}

Result<std::unique_ptr<Side>> Slot::StartReference(const Task& task, const MeasurementProfile& profile) {
  TOUCHSTONE_ASSIGN(SideSpec spec, MakeSpec("touchstone-runner-torch", task.policy.threads, profile));
  spec.arena = true;
  spec.limits.memory_bytes = std::max(spec.limits.memory_bytes, uint64_t{4} << 30);
  spec.limits.processes = 64;
  TOUCHSTONE_ASSIGN(auto side, Side::Start(spawner_, device_, spec));
  TOUCHSTONE_ASSIGN(const UniqueFd source, CreateSealedMemfd("reference", task.reference));
  TOUCHSTONE_ASSIGN(const Turn turn, side->Load(source.get(), std::chrono::seconds(60)));
  if (!turn.Completed()) {
    TOUCHSTONE_ASSIGN(const auto fate, FateOfTurn(*side, turn, Phase::kLoad, std::chrono::seconds(60)));
    return Error(ErrorCode::kUnavailable, "the reference of '" + task.id + "' cannot be loaded: " + fate->reason +
                                              (fate->diagnostics.empty() ? "" : ": " + fate->diagnostics));
  }
  return side;
}

Status Slot::Prepare(const Task& task, const MeasurementProfile& profile) {
  const std::string identity = task.content_hash + "/" + std::to_string(profile.block_bytes);
  if (reference_ && reference_of_ == identity && reference_->alive()) return {};
  reference_.reset();
  TOUCHSTONE_ASSIGN(reference_, StartReference(task, profile));
  reference_of_ = identity;
  return {};
}

Result<HostFacts> Slot::MeasureHandover() {
  ChoiceStream choices(StreamKey{});
  std::vector<double> handovers;
  std::vector<double> handshakes;
  for (int i = 0; i < kHandovers; ++i) {
    // An opcode without work: the hand-shake alone.
    TOUCHSTONE_ASSIGN(const Turn turn, reference_->Run(Opcode::kPing, {}, std::chrono::seconds(5), choices, 0));
    if (turn.waited != Waited::kDone) return Error(ErrorCode::kUnavailable, "the reference runner does not answer");
    handovers.push_back(turn.handover_us);
    handshakes.push_back(turn.elapsed_us);
  }
  HostFacts host;
  host.handover_us = Median(handovers);
  host.handover_bound_us = std::max(kSmallestBoundUs, kBoundFactor * Quantile(handovers, 0.99));
  host.handshake_us = Median(handshakes);
  return host;
}

Status Slot::CalibrateHandover(const Task& task, const std::string& size) {
  if (host_) return {};
  TOUCHSTONE_ASSIGN(const DimValues dims, task.Size(size));
  TOUCHSTONE_ASSIGN(const SetLayout layout, MakeLayout(task, dims));
  TOUCHSTONE_RETURN_IF_ERROR(reference_->SetUp(layout, 1));
  // A disturbance makes them longer and would stay in the bound for the life of this judge: the quietest series counts.
  HostFacts host;
  for (int series = 0; series < kSeries; ++series) {
    TOUCHSTONE_ASSIGN(const HostFacts found, MeasureHandover());
    if (series == 0 || found.handover_bound_us < host.handover_bound_us) host = found;
  }
  const HostPeaks peaks = MeasureHostPeaks();
  host.bandwidth_gb_s = peaks.bandwidth_gb_s;
  host.flops_gflop_s = peaks.flops_gflop_s;
  host.hot_bytes = peaks.hot_bytes;
  host_ = host;
  return {};
}

Result<EvaluationInput> Slot::MakeInput(const Task& task, const JudgeRequest& request) {
  EvaluationInput input;
  input.task = &task;
  TOUCHSTONE_ASSIGN(input.dims, task.Size(request.size));
  input.profile = request.profile;
  input.key = request.key;
  input.between_start_sd = request.between_start_sd;
  input.host = *host_;
  input.artifact = request.artifact;
  input.baseline_artifact = request.baseline_artifact;
  input.start_native = [this, &task, profile = request.profile] { return StartNative(task, profile); };
  input.reference = reference_.get();
  return input;
}

Status Slot::Probe(const Task& task, const JudgeRequest& request) {
  reference_.reset();
  TOUCHSTONE_RETURN_IF_ERROR(Prepare(task, request.profile));
  TOUCHSTONE_ASSIGN(const DimValues dims, task.Size(request.size));
  TOUCHSTONE_ASSIGN(const SetLayout layout, MakeLayout(task, dims));
  std::vector<CallSlot> slots(1);
  TOUCHSTONE_ASSIGN(slots[0].inputs, MakeInputs(task, layout, request.key, 0, {}));
  TOUCHSTONE_RETURN_IF_ERROR(reference_->SetUp(layout, 1));
  TOUCHSTONE_RETURN_IF_ERROR(reference_->Prepare(slots, request.key));
  ChoiceStream choices(StreamKey{});
  TOUCHSTONE_ASSIGN(const Turn turn,
                    reference_->Run(Opcode::kRun, SetsOf(slots), request.profile.call_timeout, choices, 0));
  if (!turn.Completed()) return Error(ErrorCode::kUnavailable, "the reference does not run without a candidate either");
  TOUCHSTONE_ASSIGN(const auto native, StartNative(task, request.profile));
  return {};
}

Result<EvalResult> Slot::MeasureOnce(const Task& task, const JudgeRequest& request) {
  TOUCHSTONE_ASSIGN(const DimValues dims, task.Size(request.size));
  std::string why;
  std::vector<RoundRecord> lost_rounds;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    EvalResult record = request.head;
    for (const auto& [name, value] : dims) record.dims[name] = value;
    record.key_hex = KeyToHex(request.key);
    record.profile = request.profile.name;
    const auto unusable = [&](const Error& error) {
      record.status = EvalStatus::kEnvironmentError;
      record.reason = error.message();
      return record;
    };
    if (auto ready = Prepare(task, request.profile); !ready.ok()) return unusable(ready.error());
    if (auto ready = CalibrateHandover(task, request.size); !ready.ok()) return unusable(ready.error());
    TOUCHSTONE_ASSIGN(EvaluationInput input, MakeInput(task, request));
    Status ran;
    {
      Evaluation evaluation(device_, std::move(input));
      ran = evaluation.Run(record);
    }
    if (ran.ok()) {
      if (attempt > 0) MarkSecondAttempt(why, lost_rounds, record);
      return record;
    }
    if (ran.error().code() == ErrorCode::kInvalidArgument) return ran.error();
    why = ran.error().message();
    lost_rounds = std::move(record.rounds);
    if (auto probe = Probe(task, request); !probe.ok()) {
      return unusable(Error(ErrorCode::kUnavailable, why + "; without the candidate: " + probe.error().message()));
    }
    if (attempt + 1 == kAttempts) {
      // The same slot works without it, twice: nobody buys a neutral outcome by breaking the judge's tools.
      record.status = EvalStatus::kRuntimeError;
      record.reason = "the evaluation failed twice with this candidate and the slot works without it: " + why;
      return record;
    }
  }
  return Error(ErrorCode::kInternal, "unreachable");
}

Result<EvalResult> Slot::Evaluate(const JudgeRequest& request) {
  TOUCHSTONE_ASSIGN(const Task task, ParseTask(request.task_yaml, request.task_name));
  TOUCHSTONE_ASSIGN(EvalResult first, MeasureOnce(task, request));
  if (first.status != EvalStatus::kUnstable || !request.profile.measure_unstable_again) return first;
  TOUCHSTONE_ASSIGN(EvalResult second, MeasureOnce(task, request));
  return MeasuredAgain(std::move(first), std::move(second));
}

}  // namespace touchstone

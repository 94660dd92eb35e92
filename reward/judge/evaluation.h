// The judge's state machine: one evaluation of one candidate, step by step (design §4, §8).
#ifndef TOUCHSTONE_REWARD_JUDGE_EVALUATION_H_
#define TOUCHSTONE_REWARD_JUDGE_EVALUATION_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "reward/judge/checker.h"
#include "reward/judge/device.h"
#include "reward/judge/fate.h"
#include "reward/judge/profile.h"
#include "reward/judge/side.h"
#include "reward/judge/summary.h"
#include "reward/judge/window_plan.h"
#include "reward/result.h"
#include "reward/task/task.h"

namespace touchstone {

struct EvaluationInput {
  const Task* task = nullptr;
  DimValues dims;
  MeasurementProfile profile;
  SecretKey key{};
  double between_start_sd = -1;
  HostFacts host;
  int artifact = -1;           // of the candidate
  int baseline_artifact = -1;  // of a baseline that is a candidate source; -1: the reference is the baseline
  std::function<Result<std::unique_ptr<Side>>()> start_native;  // a fresh box for candidate or baseline
  Side* reference = nullptr;                                    // loaded, frozen
};

class Evaluation {
 public:
  Evaluation(Device& device, EvaluationInput input);

  // Runs all steps. Fills `record`, whose head (ids, hashes) the caller has written. An Error means that the judge
  // could not do its work *and* that the reference alone still works or not is not known: see JudgeProcess.
  Status Run(EvalResult& record);

 private:
  static constexpr std::chrono::microseconds kShortestLimit{200'000};

  using Step = Result<std::optional<Fate>>;

  // The steps, in order. Each ends the evaluation by returning a fate.
  Step PrepareBaseline();
  Step MeasureBaselineAlone();
  Step LoadCandidate();
  Step CheckDeclared();
  Step CheckHidden();
  Step MeasureStarts();
  Step MeasureBaselineAfter();
  void Conclude();

  // One correctness trial: oracle and reference on one side, the candidate on the other, the same inputs.
  Step Trial(const DimValues& dims, const DistributionOverrides& overrides, const std::string& kind, int trial);
  Step CheckDeterminism(std::span<const CallSlot> slots, const Turn& first);
  // One round: both sides on the same fresh inputs. `record_it` false: a warm-up, checked but not counted.
  Step Round(int start, int round, bool solo, bool baseline_first, bool record_it);

  // Windows of the baseline with no candidate beside it; the median of a call, 0 when too few were undisturbed.
  Result<double> MedianOfBaseline(int windows);
  std::vector<CallSlot> NewCalls(size_t count, Status* status);
  Result<Turn> RunSlots(Side& side, std::span<const CallSlot> slots, std::chrono::microseconds limit);
  std::chrono::microseconds Limit(double baseline_call_us, size_t calls) const;
  // K for a window, from what a call of each side takes.
  void SizeWindow(double baseline_call_us, double candidate_call_us);
  Status SetUpWindows();
  // What a side is charged for: its turn, and what its hand-over took longer than one without work in it.
  double ChargedUs(const Turn& turn) const;
  double SpentMs() const;
  SummaryOptions MakeSummaryOptions() const;

  Side& baseline() { return own_baseline_ ? *own_baseline_ : *input_.reference; }
  bool baseline_is_reference() const { return own_baseline_ == nullptr; }

  Device& device_;
  EvaluationInput input_;
  const Task& task_;
  ChoiceStream choices_;
  EvalResult* record_ = nullptr;
  std::optional<Checker> checker_;
  SetLayout layout_;
  std::unique_ptr<Side> own_baseline_;
  std::unique_ptr<Side> candidate_;
  uint64_t next_call_ = 0;
  size_t calls_ = 1;  // K
  size_t sets_ = 1;
  double baseline_call_us_ = 0;
  double candidate_call_us_ = 0;
  RawClock::time_point started_;
  Phase phase_ = Phase::kLoad;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_EVALUATION_H_

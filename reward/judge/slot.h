#ifndef TOUCHSTONE_REWARD_JUDGE_SLOT_H_
#define TOUCHSTONE_REWARD_JUDGE_SLOT_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reward/judge/cpu/cpu_device.h"
#include "reward/judge/evaluation.h"
#include "reward/judge/judge_process.h"
#include "reward/judge/side.h"

namespace touchstone {

// What a judge process keeps between evaluations: the device, what it measured of the host, and the reference runner of
// the last task, warm. Attributes faults (design: V13). One thread.
class Slot {
 public:
  Slot(JudgeOptions options, Spawner spawner);

  // One evaluation; where it turns out `unstable` and the profile says so, a second one with fresh processes. What the
  // candidate did, and an environment that fails without it too, are in the result; an Error means a bad request.
  Result<EvalResult> Evaluate(const JudgeRequest& request);

 private:
  // One measurement, with the second attempt that a failure gets which need not be the candidate's.
  Result<EvalResult> MeasureOnce(const Task& task, const JudgeRequest& request);
  Result<std::unique_ptr<Side>> StartReference(const Task& task, const MeasurementProfile& profile);
  Result<std::unique_ptr<Side>> StartNative(const Task& task, const MeasurementProfile& profile);
  Result<SideSpec> MakeSpec(const std::string& program, int threads, const MeasurementProfile& profile);
  // Makes sure that a loaded reference of this task and the host facts are there.
  Status Prepare(const Task& task, const MeasurementProfile& profile);
  // A series of hand-overs to the reference: their median and bound, and the hand-shake.
  Result<HostFacts> MeasureHandover();
  Status CalibrateHandover(const Task& task, const std::string& size);
  // Whether the reference works on this slot without any candidate.
  Status Probe(const Task& task, const JudgeRequest& request);
  Result<EvaluationInput> MakeInput(const Task& task, const JudgeRequest& request);
  std::vector<int> SideCpus(int threads) const;

  JudgeOptions options_;
  Spawner spawner_;
  CpuDevice device_;
  std::map<std::string, std::vector<Bind>> binds_;  // by runner program
  std::optional<HostFacts> host_;
  std::unique_ptr<Side> reference_;
  std::string reference_of_;  // hash of the task that it holds
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_SLOT_H_

// Start here: from a task and a candidate to an honest verdict.
//
//   task/     what to compute: native YAML, references, admission
//   judge/    the judge process: inputs, clock, comparison; device.h is the seam to a kind of device
//   verdict/  comparison and statistics, pure functions
//   result.h  the record of one evaluation; public_view.h: what of it a policy may be told
#ifndef TOUCHSTONE_REWARD_REWARD_H_
#define TOUCHSTONE_REWARD_REWARD_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "reward/judge/profile.h"
#include "reward/result.h"
#include "reward/task/task.h"
#include "sandbox/box/layers.h"
#include "sandbox/build/build.h"

namespace touchstone {

struct EvaluatorOptions {
  std::string program_folder;  // of touchstone-spawner, touchstone-judge and the runners; empty: beside this program
  BuildOptions build;
  std::vector<int> cpus;  // the slot's cores: the first is the judge's, the others the side's; empty: all
  Level minimum_level = Level::kFull;
  // Standard deviation of log(speedup) between process starts, from `touchstone calibrate`; < 0: not calibrated.
  double between_start_sd = -1;
  LayerSet disable_for_tests;  // of the candidates' boxes: to show what a layer stops
};

struct EvalRequest {
  const Task* task = nullptr;
  std::string size = "cpu";
  std::string interface_name = "cpp";
  std::string source;
  std::optional<std::string> baseline_source;  // another candidate as the baseline; none: the task's reference
  MeasurementProfile profile;
  std::optional<SecretKey> key;  // to reproduce; none: a fresh one
};

// One slot: a spawner, a build pool and a judge process. One evaluation at a time; one thread at a time.
class Evaluator {
 public:
  static Result<std::unique_ptr<Evaluator>> Create(EvaluatorOptions options);
  virtual ~Evaluator() = default;

  // Builds, runs, judges. Blocks. What the candidate did is in the result, an environment fault too (status
  // environment_error); an Error means that the request itself was bad or that this slot cannot work.
  virtual Result<EvalResult> Evaluate(const EvalRequest& request) = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_REWARD_H_

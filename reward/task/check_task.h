#ifndef TOUCHSTONE_REWARD_TASK_CHECK_TASK_H_
#define TOUCHSTONE_REWARD_TASK_CHECK_TASK_H_

#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "reward/task/admission.h"
#include "reward/task/task.h"
#include "sandbox/box/layers.h"
#include "sandbox/box/spawner.h"

namespace touchstone {

struct CheckTaskOptions {
  std::string program_folder;  // of touchstone-runner-torch; empty: beside this program
  std::string size = "cpu";
  Level minimum_level = Level::kFull;
  SecretKey key{};  // of the inputs: the same key gives the same report, apart from the time
};

// Starts a reference runner in a box, lets it compute what Admit() needs, and admits or refuses the task. Blocks for
// some seconds. Errors: kInvalidArgument (the reference does not load, run, or give what the task declares; or a bad
// size), kUnavailable (this host cannot run it).
Result<AdmissionReport> CheckTask(const Task& task, Spawner& spawner, const CheckTaskOptions& options);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_TASK_CHECK_TASK_H_

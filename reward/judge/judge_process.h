// The judge as a process of its own: the server's end (JudgeProcess) and the process (JudgeMain).
//
// One request at a time over a channel. A request is a JSON document in a sealed memfd, followed by the artifacts; the
// reply is a JSON document in a sealed memfd. Both ends are trusted. The judge holds the keys, inputs, expected outputs
// and the clock; it never maps candidate code (design §3).
#ifndef TOUCHSTONE_REWARD_JUDGE_JUDGE_PROCESS_H_
#define TOUCHSTONE_REWARD_JUDGE_JUDGE_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "reward/judge/profile.h"
#include "reward/result.h"
#include "reward/task/task.h"
#include "sandbox/box/layers.h"

namespace touchstone {

// What a judge process is told once.
struct JudgeOptions {
  std::string program_folder;  // of touchstone-judge and the runners
  std::vector<int> cpus;       // the first is the judge's own core, the others the sides'
  Level minimum_level = Level::kFull;
  LayerSet disable_for_tests;  // of the candidate's boxes
};

struct JudgeRequest {
  std::string task_yaml;
  std::string task_name;  // for messages
  std::string size = "cpu";
  MeasurementProfile profile;
  SecretKey key{};
  double between_start_sd = -1;
  int artifact = -1;
  int baseline_artifact = -1;
  EvalResult head;  // ids and hashes; the judge fills the rest
};

class JudgeProcess {
 public:
  // Starts the process; `spawner_connection` becomes its own.
  static Result<std::unique_ptr<JudgeProcess>> Start(const JudgeOptions& options, UniqueFd spawner_connection);
  ~JudgeProcess();
  JudgeProcess(const JudgeProcess&) = delete;
  JudgeProcess& operator=(const JudgeProcess&) = delete;

  // Blocks until the verdict. kUnavailable when the judge died: start another one.
  Result<EvalResult> Evaluate(const JudgeRequest& request);
  pid_t pid() const { return pid_; }

 private:
  JudgeProcess(pid_t pid, UniqueFd channel) : pid_(pid), channel_(std::move(channel)) {}
  pid_t pid_;
  UniqueFd channel_;
};

// The process: serves `channel` until it is closed. Returns the exit code.
int JudgeMain(int channel, int spawner_connection);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_JUDGE_PROCESS_H_

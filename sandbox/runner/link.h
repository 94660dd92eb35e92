// The judge's end of the hand-shake with one runner in one box.
#ifndef TOUCHSTONE_SANDBOX_RUNNER_LINK_H_
#define TOUCHSTONE_SANDBOX_RUNNER_LINK_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memfd.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/box/spawner.h"
#include "sandbox/runner/protocol.h"

namespace touchstone {

// What the judge copied from an answer page. Everything in it is a claim of the runner.
struct RunnerAnswer {
  RunnerStatus status = RunnerStatus::kOk;  // a value outside the enum reads as kRuntimeError
  uint32_t failed_call = 0;
  std::string message;  // printable, bounded
  std::vector<OutputPlace> places;
};

// Copies an answer page once, with every count bounded. `expected_places` is what the command asked for; another number
// yields an empty list.
RunnerAnswer CopyAnswer(const AnswerPage& page, size_t expected_places);

// How a wait for "done" ended.
enum class Waited { kDone, kDied, kTimedOut };

class RunnerLink {
 public:
  // Starts `program` in a box with pages of its own and the given block. The runner waits for its first command.
  static Result<std::unique_ptr<RunnerLink>> Start(Spawner& spawner, const Policy& policy, const Limits& limits,
                                                   const Program& program, int block_fd);

  // The command page; the judge fills what the next command needs, never reads.
  CommandPage& command() { return *command_; }
  // Hands a sealed artifact to a runner that is about to get kLoad.
  Status SendArtifact(int artifact_fd);

  // Rings the doorbell for `opcode`.
  void Ring(Opcode opcode);
  // Waits until the runner says "done" to the last ring. Death is noticed within some milliseconds of it. With `spin`
  // the wait burns this core and is exact to a microsecond.
  Waited Await(std::chrono::microseconds timeout, bool spin);
  // The offset that place `index` of the answer has at this moment; for tiles, where copying all places would take
  // time.
  uint64_t PlaceOffset(size_t index) const;
  RunnerAnswer Answer(size_t expected_places) const { return CopyAnswer(*answer_, expected_places); }

  Box& box() { return box_; }
  const Box& box() const { return box_; }

 private:
  RunnerLink(Mapping command, Mapping answer, UniqueFd control, Box box);

  Mapping command_mapping_;
  Mapping answer_mapping_;
  CommandPage* command_;
  const AnswerPage* answer_;
  UniqueFd control_;
  Box box_;
  uint32_t sequence_ = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_RUNNER_LINK_H_

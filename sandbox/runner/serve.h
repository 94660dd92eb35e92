// The runner's end of the hand-shake: maps the pages, waits for the doorbell, hands each command to a handler.
//
// All of this runs inside a box. Once a candidate is loaded it may do to this code what it likes; the judge believes
// nothing of it (protocol.h).
#ifndef TOUCHSTONE_SANDBOX_RUNNER_SERVE_H_
#define TOUCHSTONE_SANDBOX_RUNNER_SERVE_H_

#include <cstddef>
#include <string>

#include "sandbox/runner/protocol.h"

namespace touchstone {

// What a kind of runner does with a command. Called from one thread. `message` is for people and may stay empty. The
// defaults answer kUnsupported.
class RunnerHandler {
 public:
  virtual ~RunnerHandler() = default;
  // Loads the artifact; the descriptor is the callee's only during the call.
  virtual RunnerStatus Load(int artifact_fd, const CommandPage& command, std::string* message) = 0;
  // Makes the calls. `block` is the start of the mapped block. Sets answer.failed_call and answer.places as it applies.
  virtual RunnerStatus Run(const CommandPage& command, std::byte* block, AnswerPage& answer, std::string* message) = 0;
  virtual RunnerStatus Oracle(const CommandPage& command, std::byte* block, AnswerPage& answer, std::string* message);
  virtual RunnerStatus Null(const CommandPage& command, std::byte* block);
};

// Serves commands until kExit. Returns the exit code of the program.
int ServeRunner(RunnerHandler& handler);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_RUNNER_SERVE_H_

#ifndef TOUCHSTONE_SANDBOX_RUNNER_LIBRARIES_COMMAND_H_
#define TOUCHSTONE_SANDBOX_RUNNER_LIBRARIES_COMMAND_H_

#include <string>
#include <vector>

#include "base/result.h"

namespace touchstone {

struct CommandResult {
  std::string output;  // stdout and stderr
  bool succeeded = false;
};

// Runs a trusted program of the system (arguments[0] is its path) with an empty environment, as a box has none either,
// and waits for its end. kUnavailable when it cannot be started.
Result<CommandResult> RunCommand(const std::vector<std::string>& arguments);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_RUNNER_LIBRARIES_COMMAND_H_

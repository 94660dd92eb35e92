// What the commands of the program `touchstone` share: exit codes, and how a command adds itself.
#ifndef TOUCHSTONE_ENV_CLI_COMMAND_H_
#define TOUCHSTONE_ENV_CLI_COMMAND_H_

#include <CLI/App.hpp>

#include <functional>

#include "base/result.h"

namespace touchstone::cli {

// Exit codes are for scripts: do not change them.
enum ExitCode : int {
  kExitSuccess = 0,        // everything asked for came out well
  kExitNotSuccessful = 1,  // the work was done, and the answer is no: a candidate failed, a layer is missing, …
  kExitUsage = 2,          // bad arguments or input files; nothing was evaluated
  kExitEnvironment = 3,    // our failure or the host's: says nothing about any candidate
};

// Bad arguments and missing things are the caller's; everything else is the environment's.
ExitCode ExitCodeOf(const Error& error);

// Prints "touchstone: <error>" on standard error and returns its exit code.
ExitCode Fail(const Error& error);

// Set by the command that the arguments chose; main() calls it.
using Action = std::function<ExitCode()>;

void AddEvalCommand(CLI::App& program, Action& action);
void AddTasksCommand(CLI::App& program, Action& action);
void AddDoctorCommand(CLI::App& program, Action& action);
void AddCalibrateCommand(CLI::App& program, Action& action);
void AddReproduceCommand(CLI::App& program, Action& action);
void AddReplayCommand(CLI::App& program, Action& action);
void AddBenchCommand(CLI::App& program, Action& action);
void AddServeCommand(CLI::App& program, Action& action);
void AddKeysCommand(CLI::App& program, Action& action);

}  // namespace touchstone::cli

#endif  // TOUCHSTONE_ENV_CLI_COMMAND_H_

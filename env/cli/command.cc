#include "env/cli/command.h"

#include <cstdio>

namespace touchstone::cli {

ExitCode ExitCodeOf(const Error& error) {
  const bool callers = error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kNotFound;
  return callers ? kExitUsage : kExitEnvironment;
}

ExitCode Fail(const Error& error) {
  std::fprintf(stderr, "touchstone: %s\n", error.ToString().c_str());
  return ExitCodeOf(error);
}

}  // namespace touchstone::cli

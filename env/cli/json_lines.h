#ifndef TOUCHSTONE_ENV_CLI_JSON_LINES_H_
#define TOUCHSTONE_ENV_CLI_JSON_LINES_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace touchstone::cli {

// Where --json FILE goes: one record a line, each written in one piece as soon as it is there, so that what was
// evaluated before an interruption is kept. "-" is standard output.
class JsonLines {
 public:
  // Empties or makes the file. kInvalidArgument when it cannot be written.
  static Result<JsonLines> Open(const std::string& path);

  Status Write(std::string_view line);

 private:
  JsonLines(UniqueFd owned, int fd) : owned_(std::move(owned)), fd_(fd) {}
  UniqueFd owned_;
  int fd_;
};

}  // namespace touchstone::cli

#endif  // TOUCHSTONE_ENV_CLI_JSON_LINES_H_

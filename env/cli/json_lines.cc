#include "env/cli/json_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace touchstone::cli {

Result<JsonLines> JsonLines::Open(const std::string& path) {
  if (path == "-") return JsonLines(UniqueFd(), STDOUT_FILENO);
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return ErrnoError(ErrorCode::kInvalidArgument, "opening " + path);
  const int fd = file.get();
  return JsonLines(std::move(file), fd);
}

Status JsonLines::Write(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError("writing a record");
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace touchstone::cli

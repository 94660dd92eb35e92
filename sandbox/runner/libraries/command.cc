#include "sandbox/runner/libraries/command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace touchstone {
namespace {

class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Result<CommandResult> RunCommand(const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("pipe");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  SpawnActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), writer.get(), 1);
  ::posix_spawn_file_actions_adddup2(actions.get(), writer.get(), 2);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  char* environment[] = {nullptr};
  pid_t pid = 0;
  if (const int error = ::posix_spawn(&pid, argv[0], actions.get(), nullptr, argv.data(), environment); error != 0) {
    return Error(ErrorCode::kUnavailable, arguments[0] + ": " + std::strerror(error));
  }
  writer.Reset();
  CommandResult result;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = ::read(reader.get(), buffer.data(), buffer.size())) != 0;) {
    if (got > 0) result.output.append(buffer.data(), static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return ErrnoError("waiting for " + arguments[0]);
  }
  result.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return result;
}

}  // namespace touchstone

#include "sandbox/runner/libraries/runtime_binds.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/unique_fd.h"
#include "sandbox/runner/libraries/elf_interpreter.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

constexpr char kLoaderCache[] = "/etc/ld.so.cache";
// What g++ links a candidate with; the last three are empty in new C libraries and real in old ones.
constexpr char kCandidateLibraries[] =
    "libc.so.6 libm.so.6 libmvec.so.1 libstdc++.so.6 libgcc_s.so.1 libgomp.so.1 libpthread.so.0 libdl.so.2 librt.so.1";

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

struct CommandResult {
  std::string output;  // stdout and stderr
  bool succeeded = false;
};

// Runs a program of the system with an empty environment, as a box has none either.
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

void AddBind(const std::string& path, std::vector<Bind>& binds) {
  // A box has no links: what it makes of ".." is what the text says.
  const std::string target = fs::path(path).lexically_normal();
  const bool known = std::any_of(binds.begin(), binds.end(), [&](const Bind& bind) { return bind.target == target; });
  if (known) return;
  std::error_code error;
  const fs::path source = fs::canonical(path, error);
  binds.push_back({error ? path : source.string(), target, false});
}

}  // namespace

Result<std::vector<std::string>> ParseLoaderList(std::string_view output) {
  std::vector<std::string> paths;
  while (!output.empty()) {
    const size_t end = std::min(output.find('\n'), output.size());
    std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    while (!line.empty() && (line.front() == '\t' || line.front() == ' ')) line.remove_prefix(1);
    if (line.ends_with("=> not found") || line.starts_with("ERROR: ")) {
      return Error(ErrorCode::kUnavailable, std::string(line));
    }
    // "NAME => PATH (0x…)", "PATH (0x…)"; the kernel's own library has no path.
    if (const size_t arrow = line.find(" => "); arrow != std::string_view::npos) line.remove_prefix(arrow + 4);
    const size_t address = line.rfind(" (0x");
    if (address == std::string_view::npos || line.front() != '/') continue;
    paths.emplace_back(line.substr(0, address));
  }
  return paths;
}

Result<std::vector<Bind>> RuntimeBinds(const std::string& program) {
  if (!program.starts_with('/')) return Error(ErrorCode::kInvalidArgument, "program '" + program + "': not absolute");
  TOUCHSTONE_ASSIGN(const std::string loader, ElfInterpreter(program));
  std::vector<Bind> binds;
  AddBind(program, binds);
  if (loader.empty()) return binds;
  AddBind(loader, binds);
  const std::vector<std::string> tail = {"--preload", kCandidateLibraries, "--list", program};
  const auto list = [&](std::vector<std::string> head) {
    head.insert(head.end(), tail.begin(), tail.end());
    return RunCommand(head);
  };
  TOUCHSTONE_ASSIGN(const CommandResult listed, list({loader}));
  if (!listed.succeeded) return Error(ErrorCode::kUnavailable, "libraries of " + program + ": " + listed.output);
  TOUCHSTONE_ASSIGN(const std::vector<std::string> paths, ParseLoaderList(listed.output));
  for (const std::string& path : paths) AddBind(path, binds);

  // A library outside the loader's own folders that no RPATH names is known to the loader's cache only.
  TOUCHSTONE_ASSIGN(const CommandResult without_cache, list({loader, "--inhibit-cache"}));
  const auto same = without_cache.succeeded ? ParseLoaderList(without_cache.output)
                                            : Result<std::vector<std::string>>(std::vector<std::string>());
  if (!same.ok() || *same != paths) binds.push_back({kLoaderCache, kLoaderCache, false});
  return binds;
}

}  // namespace touchstone

#include "reward/judge/judge_process.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "base/channel.h"
#include "reward/judge/judge_wire.h"

extern char** environ;

namespace touchstone {
namespace {

constexpr int kChannelFd = 3;
constexpr int kSpawnerFd = 4;
// Beyond the evaluation's own limits a judge that says nothing is taken for dead.
constexpr std::chrono::minutes kSilence{15};

// A copy of `fd` above every number that the child uses.
UniqueFd Raised(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 16)); }

}  // namespace

Result<std::unique_ptr<JudgeProcess>> JudgeProcess::Start(const JudgeOptions& options, UniqueFd spawner_connection) {
  TOUCHSTONE_ASSIGN(auto channel, ChannelPair());
  const UniqueFd child_channel = Raised(channel.second.get());
  const UniqueFd child_spawner = Raised(spawner_connection.get());
  if (!child_channel.valid() || !child_spawner.valid()) return ErrnoError("duplicating a descriptor");

  const std::string program = options.program_folder + "/touchstone-judge";
  char* const argv[] = {const_cast<char*>(program.c_str()), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, child_channel.get(), kChannelFd);
  ::posix_spawn_file_actions_adddup2(&actions, child_spawner.get(), kSpawnerFd);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    errno = failed;
    return ErrnoError(ErrorCode::kUnavailable, "starting " + program);
  }
  auto process = std::unique_ptr<JudgeProcess>(new JudgeProcess(pid, std::move(channel.first)));
  TOUCHSTONE_RETURN_IF_ERROR(SendDocument(process->channel_.get(), ToJson(options), {}));
  return process;
}

JudgeProcess::~JudgeProcess() {
  channel_.Reset();  // it ends by itself when its channel is closed, and takes its boxes with it
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Result<EvalResult> JudgeProcess::Evaluate(const JudgeRequest& request) {
  std::vector<int> fds{request.artifact};
  if (request.baseline_artifact >= 0) fds.push_back(request.baseline_artifact);
  TOUCHSTONE_RETURN_IF_ERROR(SendDocument(channel_.get(), ToJson(request), fds));
  auto reply = ReceiveDocument(channel_.get(), kSilence, nullptr);
  if (!reply.ok()) return Error(ErrorCode::kUnavailable, "the judge gave no verdict: " + reply.error().message());
  if (reply->contains("error")) {
    return Error(reply->value("invalid", false) ? ErrorCode::kInvalidArgument : ErrorCode::kInternal,
                 reply->value("error", "no reason"));
  }
  return EvalResultFromJson((*reply)["result"]);
}

}  // namespace touchstone

#include "sandbox/box/spawner.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/channel.h"
#include "base/program_folder.h"
#include "sandbox/box/wire.h"

namespace touchstone {
namespace {

constexpr std::chrono::seconds kAnswerTimeout{60};

std::string DefaultPath() { return ProgramFolder() + "/touchstone-spawner"; }

}  // namespace

Result<Spawner> Spawner::Launch(const std::string& path) {
  const std::string program = path.empty() ? DefaultPath() : path;
  TOUCHSTONE_ASSIGN(auto channel, ChannelPair());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, channel.second.get(), 3);
  std::string name = program;
  std::string pid = std::to_string(::getpid());
  char* const argv[] = {name.data(), pid.data(), nullptr};
  char* const environment[] = {nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, program.c_str(), &actions, nullptr, argv, environment);
  posix_spawn_file_actions_destroy(&actions);
  channel.second.Reset();
  if (failed != 0) {
    errno = failed;
    return ErrnoError(ErrorCode::kUnavailable, "starting " + program);
  }
  // It forks once more and this first process ends at once, so that no zombie of it is ever ours.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  TOUCHSTONE_ASSIGN(const Message hello, Receive(channel.first.get(), kAnswerTimeout));
  if (IsKind(hello.bytes, MessageKind::kError)) return DecodeError(hello.bytes).Within("starting " + program);
  if (!IsKind(hello.bytes, MessageKind::kHello)) return Error(ErrorCode::kInternal, program + " is not a spawner");
  return Spawner(std::move(channel.first));
}

Result<UniqueFd> Spawner::NewConnection() {
  TOUCHSTONE_RETURN_IF_ERROR(Send(channel_.get(), std::string(1, static_cast<char>(MessageKind::kConnect))));
  TOUCHSTONE_ASSIGN(Message reply, Receive(channel_.get(), kAnswerTimeout));
  if (IsKind(reply.bytes, MessageKind::kError)) return DecodeError(reply.bytes);
  if (!IsKind(reply.bytes, MessageKind::kConnection) || reply.fds.size() != 1) {
    return Error(ErrorCode::kInternal, "unexpected reply of the spawner");
  }
  return std::move(reply.fds[0]);
}

Result<Box> Spawner::Start(const Policy& policy, const Limits& limits, const Program& program,
                           std::span<const int> fds) {
  StartRequest request{policy, limits, program, static_cast<uint32_t>(fds.size())};
  if (fds.size() > kMaxMessageFds - 2) return Error(ErrorCode::kInvalidArgument, "fds: at most 30");
  TOUCHSTONE_RETURN_IF_ERROR(Send(channel_.get(), EncodeStart(request), fds));
  TOUCHSTONE_ASSIGN(Message message, Receive(channel_.get(), kAnswerTimeout));
  if (IsKind(message.bytes, MessageKind::kError)) return DecodeError(message.bytes);
  TOUCHSTONE_ASSIGN(const StartReply reply, DecodeStarted(message.bytes));
  Box::Handles handles;
  handles.id = reply.id;
  handles.init_pid = reply.init_pid;
  handles.uid = reply.uid;
  handles.layers = reply.layers;
  handles.freezer_v2 = reply.freezer_v2;
  handles.cpu_usage_v2 = reply.cpu_usage_v2;
  size_t next = 0;
  const auto take = [&](HandleIndex index, UniqueFd& fd) {
    const bool present = ((reply.present >> static_cast<uint32_t>(index)) & 1U) != 0;
    if (present && next < message.fds.size()) fd = std::move(message.fds[next++]);
  };
  take(HandleIndex::kPidfd, handles.pidfd);
  take(HandleIndex::kEnd, handles.end);
  take(HandleIndex::kFreezer, handles.freezer);
  take(HandleIndex::kFreezerState, handles.freezer_state);
  take(HandleIndex::kCpuUsage, handles.cpu_usage);
  take(HandleIndex::kStdout, handles.stdout_fd);
  take(HandleIndex::kStderr, handles.stderr_fd);
  take(HandleIndex::kArtifacts, handles.artifacts);
  take(HandleIndex::kChannel, handles.spawner);
  if (!handles.end.valid() || !handles.spawner.valid()) {
    return Error(ErrorCode::kInternal, "the spawner sent no handles");
  }
  return Box(std::move(handles));
}

}  // namespace touchstone

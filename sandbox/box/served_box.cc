#include "sandbox/box/served_box.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/channel.h"
#include "sandbox/box/ending.h"
#include "sandbox/box/host.h"
#include "sandbox/box/owner_name.h"

namespace touchstone {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kStartTimeout{30};

const Error& DiedWhileBuilt() {
  static const Error error(ErrorCode::kUnavailable, "the box died while it was built");
  return error;
}

}  // namespace

Result<std::unique_ptr<ServedBox>> ServedBox::Create(const BoxFactory& factory, LayerSet layers, uint32_t id) {
  std::unique_ptr<ServedBox> box(new ServedBox);
  box->id_ = id;
  box->layers_ = layers;
  TOUCHSTONE_ASSIGN(auto control, ChannelPair());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("pipe");
  box->end_ = UniqueFd(ends[0]);
  const UniqueFd end_write(ends[1]);
  TOUCHSTONE_ASSIGN(box->cgroup_, BoxCgroup::Create(factory.cgroups, layers, std::to_string(id)));
  box->uid_ = ::geteuid();
  if (layers.Has(Layer::kOwnUid)) {
    TOUCHSTONE_ASSIGN(box->uid_, factory.uids->Take());
    box->uids_ = factory.uids;
  }
  if (!layers.Has(Layer::kMountNamespace)) {
    TOUCHSTONE_ASSIGN(box->folder_, PrivateFolder::Create(OwnerName() + "." + std::to_string(id), box->uid_));
  }
  InitConfig config;
  config.layers = layers;
  config.uid = box->uid_;
  config.gid = ::getegid();
  config.spawner = ::getpid();
  config.control = control.second.get();
  config.end = end_write.get();
  config.doors = box->cgroup_->doors();
  config.list_fd = box->cgroup_->list_fd();
  config.folder = box->folder_.path();
  config.deny_list = &factory.deny_list;
  config.deny_list_pinned = &factory.deny_list_pinned;
  const CloneResult child = CloneBox(layers, box->cgroup_->clone_into_fd());
  if (child.pid == 0) InitMain(config);
  if (child.pid < 0) return LayerError(Layer::kPidNamespace, "clone3");
  box->pid_ = child.pid;
  box->pidfd_ = UniqueFd(child.pidfd);
  box->control_ = std::move(control.first);
  return box;
}

ServedBox::~ServedBox() {
  if (uids_ != nullptr) uids_->GiveBack(uid_);
}

Status ServedBox::Start(const StartRequest& request, const std::string& bytes, std::span<const int> fds,
                        int connection) {
  state_ = State::kStarting;
  minimum_ = request.policy.minimum_level;
  deadline_ = Clock::now() + kStartTimeout;
  Status status = cgroup_->SetLimits(request.limits);
  if (status.ok()) status = Send(control_.get(), bytes, fds);
  if (status.ok()) {
    connection_ = connection;
  } else {
    Kill();
  }
  return status;
}

void ServedBox::FinishStart() {
  const auto message = Receive(control_.get(), std::chrono::milliseconds(0));
  Status status;
  if (!message.ok()) {
    status = DiedWhileBuilt();
  } else if (const auto reply = DecodeInitReply(message->bytes); !reply.ok()) {
    status = reply.error();
  } else if (LevelReached(reply->layers) < minimum_ || message->fds.size() != 1) {
    status = Error(ErrorCode::kUnavailable, "a layer of the level is not active");
  } else {
    status = SendStarted(*reply, message->fds[0]);
  }
  control_.Reset();
  state_ = State::kRunning;
  if (!status.ok()) {
    (void)Send(connection_, EncodeError(status.error()));
    Kill();
  }
  connection_ = -1;
}

Status ServedBox::SendStarted(const InitReply& init, const UniqueFd& artifacts) {
  TOUCHSTONE_ASSIGN(auto channel, ChannelPair());
  const UniqueFd freezer = cgroup_->OpenFreezer();
  const UniqueFd freezer_state = cgroup_->OpenFreezerState();
  const UniqueFd cpu_usage = cgroup_->OpenCpuUsage();
  StartReply reply;
  reply.id = id_;
  reply.init_pid = pid_;
  reply.uid = uid_;
  reply.layers = init.layers;
  reply.freezer_v2 = cgroup_->freezer_v2();
  reply.cpu_usage_v2 = cgroup_->cpu_usage_v2();
  std::vector<int> fds;
  const auto add = [&](HandleIndex index, const UniqueFd& fd) {
    if (!fd.valid()) return;
    reply.present |= 1U << static_cast<uint32_t>(index);
    fds.push_back(fd.get());
  };
  add(HandleIndex::kPidfd, pidfd_);
  add(HandleIndex::kEnd, end_);
  add(HandleIndex::kFreezer, freezer);
  add(HandleIndex::kFreezerState, freezer_state);
  add(HandleIndex::kCpuUsage, cpu_usage);
  add(HandleIndex::kStdout, stdout_fd);
  add(HandleIndex::kStderr, stderr_fd);
  add(HandleIndex::kArtifacts, artifacts);
  add(HandleIndex::kChannel, channel.second);
  TOUCHSTONE_RETURN_IF_ERROR(Send(connection_, EncodeStarted(reply), fds));
  channel_ = std::move(channel.first);
  end_.Reset();
  stdout_fd.Reset();
  stderr_fd.Reset();
  return {};
}

void ServedBox::Abandon() {
  connection_ = -1;
  Kill();
}

void ServedBox::Kill() {
  killed_ = true;
  if (state_ == State::kGone || state_ == State::kDying) {
    channel_.Reset();
    return;
  }
  // Not reaped yet, so the pid is still its own. An init that is not pid 1 has to kill the others first.
  ::kill(pid_, layers_.Has(Layer::kPidNamespace) || state_ == State::kWarm ? SIGKILL : SIGTERM);
  if (cgroup_) cgroup_->KillAll();
}

bool ServedBox::EveryProcessIsGone() const {
  if (layers_.Has(Layer::kPidNamespace)) return true;
  if (layers_.Has(Layer::kOwnUid)) {
    KillUser(uid_);
    return !UidInUse(uid_);
  }
  if (!cgroup_ || cgroup_->list_fd() < 0) return true;  // init has seen to it
  cgroup_->KillAll();
  char byte;
  return ::pread(cgroup_->list_fd(), &byte, 1, 0) == 0;
}

void ServedBox::Advance() {
  if (state_ == State::kGone) return;
  if (state_ != State::kDying) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0) return;
    if (connection_ >= 0) (void)Send(connection_, EncodeError(DiedWhileBuilt()));
    connection_ = -1;
    pidfd_.Reset();
    control_.Reset();
    state_ = State::kDying;
  }
  if (!EveryProcessIsGone()) return;
  const BoxCgroup::Usage usage = cgroup_->ReadUsage();
  if (cgroup_->Remove()) cgroup_.reset();
  if (uids_ != nullptr) uids_->GiveBack(uid_);
  uids_ = nullptr;
  GoneReport report;
  report.out_of_memory = usage.out_of_memory;
  report.cpu_time_us = usage.cpu_time_us;
  report.peak_memory_bytes = usage.peak_memory_bytes;
  if (channel_.valid()) (void)Send(channel_.get(), EncodeGone(report));
  if (folder_.path().empty()) channel_.Reset();
  state_ = State::kGone;
}

}  // namespace touchstone

#include "sandbox/box/server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sandbox/box/file_util.h"

namespace touchstone {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmBoxes = 2;
constexpr std::chrono::seconds kStartTimeout{30};
Status Check(const StartRequest& request) {
  const auto bad = [](std::string what) { return Error(ErrorCode::kInvalidArgument, std::move(what)); };
  const Program& program = request.program;
  if (program.argv.empty() || !program.argv[0].starts_with("/")) return bad("argv[0] must be an absolute path");
  if (!program.working_directory.starts_with("/")) return bad("working_directory must be an absolute path");
  for (const Bind& bind : request.policy.binds) {
    if (!bind.source.starts_with("/")) return bad("bind source '" + bind.source + "' must be an absolute path");
    if (!bind.target.empty() && (!bind.target.starts_with("/") || bind.target.size() < 2)) {
      return bad("bind target '" + bind.target + "' must be an absolute path below /");
    }
    if (bind.target.empty() && bind.source.size() < 2) return bad("bind of / needs a target below /");
  }
  const Limits& limits = request.limits;
  if (limits.memory_bytes < (uint64_t{1} << 20)) return bad("memory_bytes must be at least 1 MiB");
  if (limits.processes < 1) return bad("processes must be at least 1");
  if (limits.cpu_time.count() < 1) return bad("cpu_time must be at least 1 s");
  if (limits.open_files < 8) return bad("open_files must be at least 8");
  if (limits.tmp_bytes < 4096 || limits.tmp_inodes < 4) return bad("tmp_bytes or tmp_inodes is too small");
  for (int cpu : limits.cpus) {
    if (cpu < 0 || cpu >= 1024) return bad("cpus: there is no core " + std::to_string(cpu));
  }
  return {};
}

Error MissingLayers(Level level, LayerSet active) {
  std::string names;
  for (const std::string& name : LayersOf(level).Without(active).Names()) names += (names.empty() ? "" : ", ") + name;
  return Error(ErrorCode::kUnavailable,
               "level " + std::string(ToString(level)) + " is not reached, these layers are not active: " + names);
}

}  // namespace

Result<std::unique_ptr<SpawnerServer>> SpawnerServer::Create(UniqueFd channel, UniqueFd starter) {
  std::unique_ptr<SpawnerServer> server(new SpawnerServer);
  server->starter_ = std::move(starter);
  const Status status = server->Prepare();
  if (!status.ok()) {
    (void)Send(channel.get(), EncodeError(status.error()));
    return status.error();
  }
  TOUCHSTONE_RETURN_IF_ERROR(Send(channel.get(), std::string(1, static_cast<char>(MessageKind::kHello))));
  server->connections_.push_back(std::move(channel));
  return server;
}

Status SpawnerServer::Prepare() {
  cgroups_ = CgroupHost::Create(ParseCgroupLayout(ReadKernelFile("/proc/self/cgroup").value_or(""),
                                                  ReadKernelFile("/proc/self/mountinfo").value_or("")));
  host_ = std::make_unique<HostLayers>(FindHostLayers(cgroups_->folders().layers, cgroups_->why()));
  if (host_->Has(Layer::kOwnUid)) {
    auto uids = UidRange::Open();
    if (uids.ok()) {
      uids_ = std::move(uids).value();
    } else {
      host_->available.Remove(Layer::kOwnUid);
    }
  }
  TOUCHSTONE_ASSIGN(deny_list_, CompileDenyList(false));
  TOUCHSTONE_ASSIGN(deny_list_pinned_, CompileDenyList(true));
  return {};
}

SpawnerServer::~SpawnerServer() {
  for (Box& box : boxes_) Kill(box);
  const auto deadline = Clock::now() + std::chrono::seconds(5);
  while (!boxes_.empty() && Clock::now() < deadline) {
    pollfd poller{boxes_.front().pidfd.get(), POLLIN, 0};
    ::poll(&poller, 1, 10);
    std::erase_if(boxes_, [this](Box& box) { return Reap(box); });
  }
  leaving_.clear();
}

Result<LayerSet> SpawnerServer::ChooseLayers(const StartRequest& request) const {
  const LayerSet layers = host_->available.Without(request.policy.disable_for_tests);
  if (LevelReached(layers) < request.policy.minimum_level) {
    return MissingLayers(request.policy.minimum_level, layers);
  }
  return layers;
}

Result<SpawnerServer::Box*> SpawnerServer::NewBox(LayerSet layers) {
  Box box;
  box.id = next_id_++;
  box.layers = layers;
  TOUCHSTONE_ASSIGN(auto control, ChannelPair());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("pipe");
  box.end = UniqueFd(ends[0]);
  const UniqueFd end_write(ends[1]);
  TOUCHSTONE_ASSIGN(box.cgroup, BoxCgroup::Create(cgroups_->folders(), layers, std::to_string(box.id)));
  if (layers.Has(Layer::kOwnUid)) {
    TOUCHSTONE_ASSIGN(box.uid, uids_->Take());
  } else {
    box.uid = ::getuid();
  }
  InitConfig config;
  config.layers = layers;
  config.uid = box.uid;
  config.spawner = ::getpid();
  config.privileged = host_->privileged;
  config.control = control.second.get();
  config.end = end_write.get();
  config.join_fds = box.cgroup->join_fds();
  config.list_fd = box.cgroup->list_fd();
  config.deny_list = &deny_list_;
  config.deny_list_pinned = &deny_list_pinned_;
  const CloneResult child = CloneBox(layers, box.cgroup->clone_into_fd());
  if (child.pid == 0) InitMain(config);
  if (child.pid < 0) {
    const Error error = ErrnoError(ErrorCode::kUnavailable, "clone3");
    if (layers.Has(Layer::kOwnUid)) uids_->GiveBack(box.uid);
    return error;
  }
  box.pid = child.pid;
  box.pidfd = UniqueFd(child.pidfd);
  box.control = std::move(control.first);
  boxes_.push_back(std::move(box));
  return &boxes_.back();
}

Result<SpawnerServer::Box*> SpawnerServer::WarmBox(LayerSet layers) {
  for (Box& box : boxes_) {
    if (box.state == Box::State::kWarm && !box.killed && box.layers == layers) return &box;
  }
  return NewBox(layers);
}

Status SpawnerServer::HandleStart(int connection, const Message& message) {
  TOUCHSTONE_ASSIGN(const StartRequest request, DecodeStart(message.bytes));
  if (request.fd_count != message.fds.size()) {
    return Error(ErrorCode::kInvalidArgument, "fds: " + std::to_string(message.fds.size()) + " arrived");
  }
  TOUCHSTONE_RETURN_IF_ERROR(Check(request));
  TOUCHSTONE_ASSIGN(const LayerSet layers, ChooseLayers(request));
  std::vector<int> fds;
  for (const UniqueFd& fd : message.fds) fds.push_back(fd.get());
  UniqueFd pipes[2][2];
  if (request.program.capture_output) {
    for (auto& pipe : pipes) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("pipe");
      pipe[0].Reset(ends[0]);
      pipe[1].Reset(ends[1]);
      fds.push_back(ends[1]);
    }
  }
  TOUCHSTONE_ASSIGN(Box * box, WarmBox(layers));
  box->state = Box::State::kStarting;
  box->minimum = LayersOf(request.policy.minimum_level);
  box->connection = connection;
  box->deadline = Clock::now() + kStartTimeout;
  box->stdout_fd = std::move(pipes[0][0]);
  box->stderr_fd = std::move(pipes[1][0]);
  Status status = box->cgroup->SetLimits(request.limits);
  if (status.ok()) status = Send(box->control.get(), message.bytes, fds);
  if (!status.ok()) {
    box->connection = -1;
    Kill(*box);
  }
  return status;
}

void SpawnerServer::FinishStart(Box& box) {
  const int connection = box.connection;
  const auto message = Receive(box.control.get(), std::chrono::milliseconds(0));
  Status status;
  if (!message.ok()) {
    status = Error(ErrorCode::kUnavailable, "the box died while it was built");
  } else {
    auto reply = DecodeInitReply(message->bytes);
    if (!reply.ok()) {
      status = reply.error();
    } else if (!reply->layers.Contains(box.minimum)) {
      status = Error(ErrorCode::kUnavailable, "a layer is missing");
    } else {
      int artifacts = -1;
      if (!message->fds.empty()) artifacts = ::fcntl(message->fds[0].get(), F_DUPFD_CLOEXEC, 3);
      status = SendStarted(box, *reply, UniqueFd(artifacts));
    }
  }
  box.connection = -1;
  box.control.Reset();
  box.state = Box::State::kRunning;
  if (status.ok()) return;
  Kill(box);
  (void)Send(connection, EncodeError(status.error()));
}

Status SpawnerServer::SendStarted(Box& box, const InitReply& init, UniqueFd artifacts) {
  TOUCHSTONE_ASSIGN(auto channel, ChannelPair());
  const UniqueFd freezer = box.cgroup->OpenFreezer();
  const UniqueFd freezer_state = box.cgroup->OpenFreezerState();
  const UniqueFd cpu_usage = box.cgroup->OpenCpuUsage();
  StartReply reply;
  reply.id = box.id;
  reply.init_pid = box.pid;
  reply.uid = box.uid;
  reply.layers = init.layers;
  reply.freezer_v2 = box.cgroup->freezer_v2();
  reply.cpu_usage_v2 = box.cgroup->cpu_usage_v2();
  std::vector<int> fds;
  const auto add = [&](HandleIndex index, const UniqueFd& fd) {
    if (!fd.valid()) return;
    reply.present |= 1U << static_cast<uint32_t>(index);
    fds.push_back(fd.get());
  };
  add(HandleIndex::kPidfd, box.pidfd);
  add(HandleIndex::kEnd, box.end);
  add(HandleIndex::kFreezer, freezer);
  add(HandleIndex::kFreezerState, freezer_state);
  add(HandleIndex::kCpuUsage, cpu_usage);
  add(HandleIndex::kStdout, box.stdout_fd);
  add(HandleIndex::kStderr, box.stderr_fd);
  add(HandleIndex::kArtifacts, artifacts);
  add(HandleIndex::kChannel, channel.second);
  TOUCHSTONE_RETURN_IF_ERROR(Send(box.connection, EncodeStarted(reply), fds));
  box.channel = std::move(channel.first);
  box.end.Reset();
  box.stdout_fd.Reset();
  box.stderr_fd.Reset();
  return {};
}

void SpawnerServer::Kill(Box& box) {
  box.killed = true;
  box.channel.Reset();
  ::kill(box.pid, SIGKILL);  // not reaped yet, so the pid is still its own
  box.cgroup->KillAll();
}

bool SpawnerServer::Reap(Box& box) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(box.pid), &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0) return false;
  // Without a pid namespace the death of init is not the death of all.
  box.cgroup->KillAll();
  const BoxCgroup::Usage usage = box.cgroup->ReadUsage();
  if (!box.cgroup->Remove()) leaving_.push_back(std::move(box.cgroup));
  if (box.layers.Has(Layer::kOwnUid)) uids_->GiveBack(box.uid);
  GoneReport report;
  report.out_of_memory = usage.out_of_memory;
  report.cpu_time_us = usage.cpu_time_us;
  report.peak_memory_bytes = usage.peak_memory_bytes;
  if (box.channel.valid()) (void)Send(box.channel.get(), EncodeGone(report));
  if (box.connection >= 0) {
    (void)Send(box.connection, EncodeError(Error(ErrorCode::kUnavailable, "the box died while it was built")));
  }
  return true;
}

bool SpawnerServer::HandleConnection(int channel) {
  const auto message = Receive(channel, std::chrono::milliseconds(0));
  if (!message.ok()) return message.error().code() == ErrorCode::kDeadline;
  Status status = Error(ErrorCode::kInvalidArgument, "unknown request");
  if (IsKind(message->bytes, MessageKind::kStart)) {
    status = HandleStart(channel, *message);
  } else if (IsKind(message->bytes, MessageKind::kConnect)) {
    auto pair = ChannelPair();
    if (pair.ok()) {
      const std::string bytes(1, static_cast<char>(MessageKind::kConnection));
      const int end = pair->second.get();
      status = Send(channel, bytes, std::span<const int>(&end, 1));
      if (status.ok()) connections_.push_back(std::move(pair->first));
    } else {
      status = pair.error();
    }
  }
  if (!status.ok()) (void)Send(channel, EncodeError(status.error()));
  return true;
}

int SpawnerServer::PollTimeout() const {
  const auto warm = std::count_if(boxes_.begin(), boxes_.end(),
                                  [](const Box& box) { return box.state == Box::State::kWarm && !box.killed; });
  if (warm < kWarmBoxes) return 0;
  if (!leaving_.empty()) return 10;
  const bool starting =
      std::any_of(boxes_.begin(), boxes_.end(), [](const Box& box) { return box.state == Box::State::kStarting; });
  return starting ? 1000 : -1;
}

void SpawnerServer::Serve() {
  while (!connections_.empty()) {
    std::vector<pollfd> pollers;
    const auto watch = [&pollers](int fd) { pollers.push_back({fd, POLLIN, 0}); };
    watch(starter_.get());
    for (const UniqueFd& connection : connections_) watch(connection.get());
    for (const Box& box : boxes_) {
      watch(box.pidfd.get());
      watch(box.state == Box::State::kStarting ? box.control.get() : box.channel.get());
    }
    const int ready = ::poll(pollers.data(), pollers.size(), PollTimeout());
    if (ready < 0 && errno != EINTR) return;
    std::erase_if(leaving_, [](const auto& group) { return group->Remove(); });
    if (ready <= 0) {
      const auto now = Clock::now();
      for (Box& box : boxes_) {
        if (box.state == Box::State::kStarting && now > box.deadline) Kill(box);
      }
      const auto warm = std::count_if(boxes_.begin(), boxes_.end(),
                                      [](const Box& box) { return box.state == Box::State::kWarm && !box.killed; });
      if (warm < kWarmBoxes && !NewBox(host_->available).ok()) return;
      continue;
    }
    if (pollers[0].revents != 0) return;
    const size_t connection_count = connections_.size();
    size_t at = 1 + connection_count;
    for (auto box = boxes_.begin(); at < pollers.size(); at += 2) {
      const bool ended = pollers[at].revents != 0;
      const bool spoke = pollers[at + 1].revents != 0;
      if (spoke && box->state == Box::State::kStarting) {
        FinishStart(*box);
      } else if (spoke && box->channel.valid()) {
        Kill(*box);  // its holder is gone, or says so
      }
      box = ended && Reap(*box) ? boxes_.erase(box) : std::next(box);
    }
    std::vector<int> closed;
    for (size_t i = 0; i < connection_count; ++i) {
      if (pollers[1 + i].revents != 0 && !HandleConnection(pollers[1 + i].fd)) closed.push_back(pollers[1 + i].fd);
    }
    for (int fd : closed) {
      for (Box& box : boxes_) {
        if (box.connection != fd) continue;
        box.connection = -1;
        Kill(box);
      }
      std::erase_if(connections_, [fd](const UniqueFd& connection) { return connection.get() == fd; });
    }
  }
}

}  // namespace touchstone

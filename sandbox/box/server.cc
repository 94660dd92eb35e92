#include "sandbox/box/server.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sandbox/box/file_util.h"
#include "sandbox/box/private_folder.h"
#include "sandbox/box/seccomp.h"

namespace touchstone {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmBoxes = 3;

Status Check(const StartRequest& request) {
  const auto bad = [](std::string what) { return Error(ErrorCode::kInvalidArgument, std::move(what)); };
  if (request.policy.minimum_level > Level::kFull) return bad("minimum_level: there is no such level");
  const Program& program = request.program;
  if (program.argv.empty() || !program.argv[0].starts_with("/")) return bad("argv[0] must be an absolute path");
  if (!program.working_directory.starts_with("/")) return bad("working_directory must be an absolute path");
  for (const Bind& bind : request.policy.binds) {
    if (!bind.source.starts_with("/")) return bad("bind source '" + bind.source + "' must be an absolute path");
    const std::string& target = bind.target.empty() ? bind.source : bind.target;
    if (!target.starts_with("/") || target.size() < 2) {
      return bad("bind target '" + target + "' must be an absolute path below /");
    }
  }
  const Limits& limits = request.limits;
  if (limits.memory_bytes < (uint64_t{1} << 20)) return bad("memory_bytes must be at least 1 MiB");
  if (limits.processes < 1) return bad("processes must be at least 1");
  if (limits.cpu_time.count() < 1) return bad("cpu_time must be at least 1 s");
  if (limits.open_files < 8) return bad("open_files must be at least 8");
  if (limits.tmp_bytes < 4096) return bad("tmp_bytes must be at least 4096");
  if (limits.tmp_inodes < 4) return bad("tmp_inodes must be at least 4");
  for (int cpu : limits.cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return bad("cpus: there is no core " + std::to_string(cpu));
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
  SweepStalePrivateFolders();
  cgroups_ = CgroupHost::Create(ParseCgroupLayout(ReadKernelFile("/proc/self/cgroup").value_or(""),
                                                  ReadKernelFile("/proc/self/mountinfo").value_or("")));
  host_ = FindHostLayers();
  host_.available = LayerSet(host_.available.bits() | cgroups_->folders().layers.bits());
  if (host_.Has(Layer::kOwnUid)) {
    TOUCHSTONE_ASSIGN(uids_, UidRange::Open());
  }
  factory_.cgroups = cgroups_->folders();
  factory_.uids = uids_.get();
  TOUCHSTONE_ASSIGN(factory_.deny_list, CompileDenyList(false));
  TOUCHSTONE_ASSIGN(factory_.deny_list_pinned, CompileDenyList(true));
  return {};
}

SpawnerServer::~SpawnerServer() {
  for (const auto& box : boxes_) box->Kill();
  const auto deadline = Clock::now() + std::chrono::seconds(5);
  while (!boxes_.empty() && Clock::now() < deadline) {
    pollfd poller{boxes_.front()->pidfd(), POLLIN, 0};
    ::poll(&poller, 1, 2);
    for (const auto& box : boxes_) {
      box->Advance();
      if (box->state() == ServedBox::State::kGone) box->Kill();  // gives the private folder up
    }
    SweepBoxes();
  }
  while (!leaving_.empty() && Clock::now() < deadline) {
    std::erase_if(leaving_, [](const auto& group) { return group->Remove(); });
    ::poll(nullptr, 0, 1);
  }
}

// Landlock is the wall of boxes without the others. Beside the whole level `full` it would only be in the way of
// libraries that open files late.
LayerSet SpawnerServer::LayersWithout(LayerSet disabled) const {
  LayerSet layers = host_.available.Without(disabled);
  if (layers.Contains(LayersOf(Level::kFull))) layers.Remove(Layer::kLandlock);
  return layers;
}

Result<LayerSet> SpawnerServer::ChooseLayers(const StartRequest& request) const {
  const LayerSet layers = LayersWithout(request.policy.disable_for_tests);
  if (LevelReached(layers) < request.policy.minimum_level) {
    return MissingLayers(request.policy.minimum_level, layers);
  }
  return layers;
}

Result<ServedBox*> SpawnerServer::NewBox(LayerSet layers) {
  TOUCHSTONE_ASSIGN(auto box, ServedBox::Create(factory_, layers, next_id_++));
  boxes_.push_back(std::move(box));
  return boxes_.back().get();
}

Status SpawnerServer::HandleStart(int connection, const Message& message) {
  TOUCHSTONE_ASSIGN(const StartRequest request, DecodeStart(message.bytes));
  if (request.fd_count != message.fds.size()) {
    return Error(ErrorCode::kInvalidArgument, "fds: only " + std::to_string(message.fds.size()) + " arrived");
  }
  TOUCHSTONE_RETURN_IF_ERROR(Check(request));
  TOUCHSTONE_ASSIGN(const LayerSet layers, ChooseLayers(request));
  std::vector<int> fds;
  for (const UniqueFd& fd : message.fds) fds.push_back(fd.get());
  UniqueFd pipes[2][2];
  for (auto& pipe : pipes) {
    int ends[2];
    if (!request.program.capture_output) break;
    if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("pipe");
    pipe[0].Reset(ends[0]);
    pipe[1].Reset(ends[1]);
    fds.push_back(ends[1]);
  }
  ServedBox* box = nullptr;
  for (const auto& warm : boxes_) {
    if (warm->usable() && warm->layers() == layers) box = warm.get();
  }
  if (box == nullptr) {
    TOUCHSTONE_ASSIGN(box, NewBox(layers));
  }
  box->stdout_fd = std::move(pipes[0][0]);
  box->stderr_fd = std::move(pipes[1][0]);
  warming_ = true;
  return box->Start(request, message.bytes, fds, connection);
}

Status SpawnerServer::HandleConnect(int connection) {
  TOUCHSTONE_ASSIGN(auto pair, ChannelPair());
  const int end = pair.second.get();
  const std::string bytes(1, static_cast<char>(MessageKind::kConnection));
  TOUCHSTONE_RETURN_IF_ERROR(Send(connection, bytes, std::span<const int>(&end, 1)));
  connections_.push_back(std::move(pair.first));
  return {};
}

bool SpawnerServer::HandleRequest(int connection) {
  const auto message = Receive(connection, std::chrono::milliseconds(0));
  if (!message.ok()) {
    if (message.error().code() == ErrorCode::kUnavailable) return false;
    (void)Send(connection, EncodeError(message.error()));
    return true;
  }
  Status status = Error(ErrorCode::kInvalidArgument, "unknown request");
  if (IsKind(message->bytes, MessageKind::kStart)) {
    status = HandleStart(connection, *message);
  } else if (IsKind(message->bytes, MessageKind::kConnect)) {
    status = HandleConnect(connection);
  }
  if (!status.ok()) (void)Send(connection, EncodeError(status.error()));
  return true;
}

void SpawnerServer::HandleConnections(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int fd = pollers_[1 + i].fd;
    if (pollers_[1 + i].revents == 0 || HandleRequest(fd)) continue;
    for (const auto& box : boxes_) {
      if (box->connection() == fd) box->Abandon();
    }
    std::erase_if(connections_, [fd](const UniqueFd& connection) { return connection.get() == fd; });
  }
}

void SpawnerServer::HandleBoxes(size_t first) {
  for (size_t i = 0; i < boxes_.size(); ++i) {
    ServedBox& box = *boxes_[i];
    const bool ended = pollers_[first + 2 * i].revents != 0;
    const bool spoke = pollers_[first + 2 * i + 1].revents != 0;
    if (spoke && box.state() == ServedBox::State::kStarting) {
      box.FinishStart();
    } else if (spoke) {
      box.Kill();  // its holder says so, or is gone
    }
    if (ended || box.state() == ServedBox::State::kDying) box.Advance();
  }
  SweepBoxes();
}

void SpawnerServer::SweepBoxes() {
  for (const auto& box : boxes_) {
    if (box->state() != ServedBox::State::kGone) continue;
    if (auto cgroup = box->TakeCgroup()) leaving_.push_back(std::move(cgroup));
  }
  std::erase_if(boxes_, [](const auto& box) { return box->state() == ServedBox::State::kGone && box->watched() < 0; });
}

bool SpawnerServer::WantsWarmBox() const {
  int warm = 0;
  for (const auto& box : boxes_) {
    if (box->state() == ServedBox::State::kStarting) return false;  // that one needs the cores
    if (box->usable()) ++warm;
  }
  return warming_ && warm < kWarmBoxes;
}

int SpawnerServer::PollTimeout() const {
  if (WantsWarmBox()) return 0;
  for (const auto& box : boxes_) {
    if (box->state() == ServedBox::State::kDying) return 1;
  }
  if (!leaving_.empty()) return 10;
  for (const auto& box : boxes_) {
    if (box->state() == ServedBox::State::kStarting) return 1000;
  }
  return -1;
}

void SpawnerServer::HandleIdle() {
  std::erase_if(leaving_, [](const auto& group) { return group->Remove(); });
  const auto now = Clock::now();
  for (const auto& box : boxes_) {
    if (box->state() == ServedBox::State::kStarting && now > box->deadline()) box->Kill();
  }
  if (WantsWarmBox()) warming_ = NewBox(LayersWithout(LayerSet())).ok();
}

void SpawnerServer::Serve() {
  while (!connections_.empty()) {
    pollers_.clear();
    const auto watch = [this](int fd) { pollers_.push_back({fd, POLLIN, 0}); };
    watch(starter_.get());
    const size_t connections = connections_.size();
    for (const UniqueFd& connection : connections_) watch(connection.get());
    for (const auto& box : boxes_) {
      watch(box->pidfd());
      watch(box->watched());
    }
    const int ready = ::poll(pollers_.data(), pollers_.size(), PollTimeout());
    if (ready < 0 && errno != EINTR) return;
    if (pollers_[0].revents != 0) return;
    HandleBoxes(1 + connections);
    if (ready > 0) {
      HandleConnections(connections);
    } else {
      HandleIdle();
    }
  }
}

}  // namespace touchstone

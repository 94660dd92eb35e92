#include "sandbox/box/init.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/channel.h"
#include "sandbox/box/mounts.h"
#include "sandbox/box/privileges.h"
#include "sandbox/box/target.h"
#include "sandbox/box/wire.h"

namespace touchstone {
namespace {

Error LayerError(Layer layer, std::string_view step) {
  return ErrnoError(ErrorCode::kUnavailable, "layer " + std::string(ToString(layer)) + ": " + std::string(step));
}

// The number of lines of a cgroup.procs file.
int CountListed(int list_fd) {
  char text[4096];
  int lines = 0;
  off_t at = 0;
  while (true) {
    const ssize_t got = ::pread(list_fd, text, sizeof(text), at);
    if (got <= 0) return lines;
    lines += static_cast<int>(std::count(text, text + got, '\n'));
    at += got;
  }
}

// Closes every descriptor that is not in `kept`.
void CloseAllBut(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned from = 0;
  for (int fd : kept) {
    if (fd < 0) continue;
    const auto at = static_cast<unsigned>(fd);
    if (at > from) ::close_range(from, at - 1, 0);
    from = std::max(from, at + 1);
  }
  ::close_range(from, ~0U, 0);
}

Status Prepare(const InitConfig& config) {
  const LayerSet layers = config.layers;
  if (layers.Has(Layer::kParentDeath)) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return LayerError(Layer::kParentDeath, "prctl");
    // Died before that: then we have been given to somebody else. In a pid namespace the outside is always 0.
    if (!layers.Has(Layer::kPidNamespace) && ::getppid() != config.spawner) ::_exit(1);
  }
  if (layers.Has(Layer::kCloseOnExec)) {
    // What the spawner has open concerns other boxes and its clients.
    std::vector<int> kept = config.join_fds;
    kept.insert(kept.end(), {0, 1, 2, config.control, config.end, config.list_fd});
    CloseAllBut(std::move(kept));
  }
  for (int fd : config.join_fds) {
    if (::write(fd, "0", 1) != 1) return ErrnoError("entering a control group");
  }
  return {};
}

// Waits for the program, reaping everything else that ends meanwhile. Returns its wait status.
int WaitFor(pid_t target) {
  while (true) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, 0);
    if (pid == target) return status;
    if (pid < 0 && errno != EINTR) return 0;
  }
}

class Init {
 public:
  explicit Init(const InitConfig& config) : config_(config) {}

  // The whole life. Errors are those of the start.
  Status Run() {
    TOUCHSTONE_RETURN_IF_ERROR(Prepare(config_));
    auto message = Receive(config_.control);
    if (!message.ok()) ::_exit(0);  // never needed
    TOUCHSTONE_ASSIGN(request_, DecodeStart(message->bytes));
    fds_ = std::move(message->fds);

    LayerSet active = config_.layers;
    UniqueFd tmp;
    if (active.Has(Layer::kMountNamespace)) {
      TOUCHSTONE_ASSIGN(
          tmp, BuildRoot(request_.policy, request_.limits, {.uid = config_.uid, .make_nodes = config_.privileged}));
    }
    if (request_.limits.cpus.empty()) active.Remove(Layer::kCpuSet);
    TOUCHSTONE_ASSIGN(const pid_t target, StartTarget(active));
    TOUCHSTONE_RETURN_IF_ERROR(BecomeGuard());
    const int sent = tmp.get();
    TOUCHSTONE_RETURN_IF_ERROR(Send(config_.control, EncodeInitReply({active}),
                                    tmp.valid() ? std::span<const int>(&sent, 1) : std::span<const int>()));
    tmp.Reset();
    CloseAllBut({config_.end, config_.list_fd});
    EndRecord record;
    record.wait_status = WaitFor(target);
    record.leftover_processes = Leftovers();
    (void)!::write(config_.end, &record, sizeof(record));
    return {};
  }

 private:
  // Forks and waits until the program's exec has happened.
  Result<pid_t> StartTarget(LayerSet layers) {
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null.valid()) return ErrnoError("opening /dev/null");
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("pipe");
    const UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    const size_t outputs = request_.program.capture_output ? 2 : 0;  // the last two
    std::vector<int> fds;
    for (size_t i = 0; i + outputs < fds_.size(); ++i) fds.push_back(fds_[i].get());
    TargetConfig target;
    target.request = &request_;
    target.layers = layers;
    target.uid = config_.uid;
    target.privileged = config_.privileged;
    target.fds = fds;
    if (outputs != 0) {
      target.stdout_fd = fds_[fds_.size() - 2].get();
      target.stderr_fd = fds_[fds_.size() - 1].get();
    }
    target.null_fd = null.get();
    target.failure_pipe = write_end.get();
    target.deny_list = request_.limits.cpus.empty() ? *config_.deny_list : *config_.deny_list_pinned;
    const pid_t pid = ::fork();
    if (pid < 0) return ErrnoError("fork");
    if (pid == 0) BecomeTarget(target);
    write_end.Reset();
    fds_.clear();
    StartFailure failure;
    ssize_t got = 0;
    do {
      got = ::read(read_end.get(), &failure, sizeof(failure));
    } while (got < 0 && errno == EINTR);
    if (got == 0) return pid;
    if (got != sizeof(failure)) return Error(ErrorCode::kInternal, "the program died while it was started");
    errno = failure.error;
    failure.step[sizeof(failure.step) - 1] = '\0';
    return ErrnoError(failure.code, failure.step);
  }

  // From here on init only waits; it gives up what a hostile child could want from it.
  Status BecomeGuard() {
    if (config_.privileged && !EmptyBoundingSet()) return ErrnoError("emptying the capability bounding set");
    if (config_.layers.Has(Layer::kOwnUid) && !BecomeUser(config_.uid + 1)) {
      return LayerError(Layer::kOwnUid, "changing init's uid");
    }
    if (!SetCapabilities(0)) return ErrnoError("dropping init's capabilities");
    // After the change of uid, which clears PDEATHSIG.
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return ErrnoError("PR_SET_DUMPABLE");
    if (config_.layers.Has(Layer::kParentDeath) && ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
      return LayerError(Layer::kParentDeath, "prctl");
    }
    return {};
  }

  // Processes of the box that outlived the program, ourselves not counted.
  int Leftovers() const {
    if (config_.list_fd >= 0) return std::max(0, CountListed(config_.list_fd) - 1);
    int children = 0;
    while (::waitpid(-1, nullptr, WNOHANG) == 0) {
      children = 1;
      break;
    }
    return children;
  }

  const InitConfig& config_;
  StartRequest request_;
  std::vector<UniqueFd> fds_;
};

}  // namespace

std::string EncodeInitReply(const InitReply& reply) {
  std::string bytes(1, static_cast<char>(MessageKind::kStarted));
  const uint32_t bits = reply.layers.bits();
  bytes.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
  return bytes;
}

Result<InitReply> DecodeInitReply(const std::string& bytes) {
  if (IsKind(bytes, MessageKind::kError)) return DecodeError(bytes);
  uint32_t bits = 0;
  if (!IsKind(bytes, MessageKind::kStarted) || bytes.size() != 1 + sizeof(bits)) {
    return Error(ErrorCode::kInternal, "malformed reply of a box");
  }
  std::memcpy(&bits, bytes.data() + 1, sizeof(bits));
  return InitReply{LayerSet(bits)};
}

void InitMain(const InitConfig& config) {
  Init init(config);
  const Status status = init.Run();
  if (!status.ok()) (void)Send(config.control, EncodeError(status.error()));
  ::_exit(status.ok() ? 0 : 1);
}

}  // namespace touchstone

#include "sandbox/box/init.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/channel.h"
#include "sandbox/box/confine.h"
#include "sandbox/box/ending.h"
#include "sandbox/box/host.h"
#include "sandbox/box/mounts.h"
#include "sandbox/box/privileges.h"
#include "sandbox/box/target.h"
#include "sandbox/box/wire.h"

namespace touchstone {
namespace {

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

class Init {
 public:
  explicit Init(const InitConfig& config) : config_(config) {}

  // The whole life. Errors are those of the start.
  Status Run() {
    TOUCHSTONE_RETURN_IF_ERROR(Enter());
    auto message = Receive(config_.control);
    if (!message.ok()) ::_exit(0);  // never needed
    TOUCHSTONE_ASSIGN(request_, DecodeStart(message->bytes));
    fds_ = std::move(message->fds);

    LayerSet active = config_.layers;
    if (request_.limits.cpus.empty()) active.Remove(Layer::kCpuSet);
    TOUCHSTONE_ASSIGN(UniqueFd tmp, PrepareFiles());
    TOUCHSTONE_ASSIGN(const pid_t program, StartProgram(active));
    TOUCHSTONE_RETURN_IF_ERROR(BecomeGuard());
    const int sent = tmp.get();
    TOUCHSTONE_RETURN_IF_ERROR(Send(config_.control, EncodeInitReply({active}), std::span<const int>(&sent, 1)));
    tmp.Reset();
    CloseAllBut({config_.end, config_.list_fd});

    const std::optional<int> status = AwaitProgram(program, !Has(Layer::kPidNamespace));
    if (status) {
      const EndRecord record{*status, CountLeftovers(config_.list_fd)};
      (void)!::write(config_.end, &record, sizeof(record));
    }
    // The end of pid 1 ends its namespace; without one, somebody has to do it.
    if (!Has(Layer::kPidNamespace)) KillTheRest(config_.layers, config_.uid);
    return {};
  }

 private:
  bool Has(Layer layer) const { return config_.layers.Has(layer); }

  // What does not depend on the request.
  Status Enter() {
    sigset_t waited;
    sigemptyset(&waited);
    sigaddset(&waited, SIGCHLD);
    sigaddset(&waited, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &waited, nullptr);
    TOUCHSTONE_RETURN_IF_ERROR(ArmParentDeath());
    if (!Has(Layer::kPidNamespace) && ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return ErrnoError("subreaper");
    if (Has(Layer::kCloseOnExec)) {
      // What the spawner has open concerns other boxes and its clients.
      std::vector<int> kept = {0, 1, 2, config_.control, config_.end, config_.list_fd};
      for (const BoxCgroup::Door& door : config_.doors) kept.push_back(door.fd);
      CloseAllBut(std::move(kept));
    }
    for (const BoxCgroup::Door& door : config_.doors) {
      if (::write(door.fd, "0", 1) != 1) return LayerError(door.layer, "entering the group");
    }
    return EnterNamespaces(config_.layers, config_.uid, config_.gid);
  }

  Status ArmParentDeath() const {
    if (!Has(Layer::kParentDeath)) return {};
    // Without a pid namespace init has work to do first.
    const int signal = Has(Layer::kPidNamespace) ? SIGKILL : SIGTERM;
    if (::prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) != 0) return LayerError(Layer::kParentDeath, "prctl");
    // Died before that: then we have been given to somebody else. In a pid namespace the outside is always 0; there
    // the control channel tells.
    if (!Has(Layer::kPidNamespace) && ::getppid() != config_.spawner) {
      return Error(ErrorCode::kUnavailable, "the spawner is gone");
    }
    return {};
  }

  // Returns what the program knows as /tmp.
  Result<UniqueFd> PrepareFiles() {
    if (Has(Layer::kMountNamespace)) {
      const RootOptions options{.uid = config_.uid, .make_nodes = !Has(Layer::kUserNamespace)};
      TOUCHSTONE_ASSIGN(UniqueFd tmp, BuildRoot(request_.policy, request_.limits, options));
      if (Has(Layer::kLandlock)) {
        TOUCHSTONE_ASSIGN(landlock_, RulesWithMounts(request_.policy));
      }
      return tmp;
    }
    TOUCHSTONE_RETURN_IF_ERROR(CheckBindsWithoutMounts(request_.policy));
    MoveTmp(config_.folder, request_.program);
    if (Has(Layer::kLandlock)) {
      TOUCHSTONE_ASSIGN(landlock_, RulesWithoutMounts(request_.policy, config_.folder));
    }
    UniqueFd tmp(::open(config_.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!tmp.valid()) return ErrnoError("opening " + config_.folder);
    return tmp;
  }

  // Forks and waits until the program's exec has happened.
  Result<pid_t> StartProgram(LayerSet layers) {
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
    target.fds = fds;
    if (outputs != 0) {
      target.stdout_fd = fds_[fds_.size() - 2].get();
      target.stderr_fd = fds_[fds_.size() - 1].get();
    }
    target.null_fd = null.get();
    target.failure_pipe = write_end.get();
    target.deny_list = request_.limits.cpus.empty() ? *config_.deny_list : *config_.deny_list_pinned;
    target.landlock = landlock_ ? &*landlock_ : nullptr;
    const pid_t pid = ::fork();
    if (pid < 0) return ErrnoError("fork");
    if (pid == 0) BecomeTarget(target);
    write_end.Reset();
    fds_.clear();
    landlock_.reset();
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
  Status BecomeGuard() const {
    const bool kills = !Has(Layer::kPidNamespace) && Has(Layer::kOwnUid);  // needs CAP_SETUID for it
    if (HasCapability(CAP_SETPCAP) && !EmptyBoundingSet()) return ErrnoError("emptying the capability bounding set");
    if (kills && ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return ErrnoError("PR_SET_KEEPCAPS");
    if (Has(Layer::kOwnUid) && !BecomeUser(config_.uid + 1)) return LayerError(Layer::kOwnUid, "changing init's uid");
    if (!SetCapabilities(kills ? uint64_t{1} << CAP_SETUID : 0)) return ErrnoError("dropping init's capabilities");
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return ErrnoError("PR_SET_DUMPABLE");
    return ArmParentDeath();  // the change of uid has cleared it
  }

  const InitConfig& config_;
  StartRequest request_;
  std::vector<UniqueFd> fds_;
  std::optional<LandlockRules> landlock_;
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
  const Status status = Init(config).Run();
  if (!status.ok()) (void)Send(config.control, EncodeError(status.error()));
  ::_exit(status.ok() ? 0 : 1);
}

}  // namespace touchstone

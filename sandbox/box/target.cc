#include "sandbox/box/target.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "sandbox/box/privileges.h"

namespace touchstone {
namespace {

[[noreturn]] void Fail(const TargetConfig& config, ErrorCode code, const char* step, const char* detail = "") {
  StartFailure failure;
  failure.code = code;
  failure.error = errno;
  std::snprintf(failure.step, sizeof(failure.step), "%s%s", step, detail);
  (void)!::write(config.failure_pipe, &failure, sizeof(failure));
  ::_exit(127);
}

void Require(bool done, const TargetConfig& config, const char* step) {
  if (!done) Fail(config, ErrorCode::kUnavailable, step);
}

// Never above the hard limit that we have ourselves: raising it would need CAP_SYS_RESOURCE.
bool Limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return false;
  const rlimit wanted{std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)};
  return ::setrlimit(resource, &wanted) == 0;
}

bool SetLimits(const Limits& limits, LayerSet layers) {
  const auto cpu = static_cast<rlim_t>(limits.cpu_time.count());
  constexpr rlim_t kMebibyte = rlim_t{1} << 20;
  bool done = Limit(RLIMIT_CORE, 0, 0) && Limit(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes) &&
              Limit(RLIMIT_NOFILE, limits.open_files, limits.open_files) && Limit(RLIMIT_CPU, cpu, cpu + 1) &&
              Limit(RLIMIT_STACK, 8 * kMebibyte, 64 * kMebibyte) && Limit(RLIMIT_SIGPENDING, 1024, 1024) &&
              Limit(RLIMIT_MSGQUEUE, 0, 0) && Limit(RLIMIT_NICE, 0, 0) && Limit(RLIMIT_RTPRIO, 0, 0);
  // Counts all processes of the uid, so it means the box only where the box has a uid or a user namespace of its own.
  if (layers.Has(Layer::kOwnUid) || layers.Has(Layer::kUserNamespace)) {
    done = done && Limit(RLIMIT_NPROC, limits.processes, limits.processes);
  }
  // RLIMIT_AS would forbid the large reservations that GPU drivers make; DATA counts what is really writable.
  if (!layers.Has(Layer::kMemoryCgroup)) done = done && Limit(RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes);
  return done;
}

bool UseCpus(const std::vector<int>& cpus) {
  if (cpus.empty()) return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  return ::sched_setaffinity(0, sizeof(set), &set) == 0;
}

// Puts the descriptors where the program expects them; what else is open stays for close_range.
bool PlaceDescriptors(const TargetConfig& config, std::vector<int>& extra_out) {
  const int first_free = 3 + static_cast<int>(config.fds.size()) + 1;
  // Out of the way first: a source may lie where another one has to go.
  std::vector<int> sources = {config.null_fd, config.stdout_fd >= 0 ? config.stdout_fd : config.null_fd,
                              config.stderr_fd >= 0 ? config.stderr_fd : config.null_fd};
  sources.insert(sources.end(), config.fds.begin(), config.fds.end());
  for (int& source : sources) {
    source = ::fcntl(source, F_DUPFD_CLOEXEC, first_free);
    if (source < 0) return false;
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    if (::dup2(sources[i], static_cast<int>(i)) < 0) return false;
  }
  extra_out = std::move(sources);
  return true;
}

void ResetSignals() {
  // By system call: glibc keeps two numbers for itself, but an ignored one is inherited all the same.
  const struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    uint64_t mask;
  } standard = {SIG_DFL, 0, nullptr, 0};
  for (int signal = 1; signal < 65; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, &standard, nullptr, sizeof(standard.mask));
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

void BecomeTarget(const TargetConfig& config) {
  const StartRequest& request = *config.request;
  const LayerSet layers = config.layers;
  TargetConfig moved = config;

  ::setsid();
  ::umask(0077);
  ResetSignals();
  // The pipe moves above everything that PlaceDescriptors writes to.
  const int last = 3 + static_cast<int>(config.fds.size());
  const int pipe = ::fcntl(config.failure_pipe, F_DUPFD_CLOEXEC, last);
  Require(pipe >= 0, config, "moving the failure pipe");
  moved.failure_pipe = pipe;
  std::vector<int> copies;
  Require(PlaceDescriptors(moved, copies), moved, "placing the descriptors");
  if (pipe != last) {
    Require(::dup3(pipe, last, O_CLOEXEC) == last, moved, "moving the failure pipe");
    moved.failure_pipe = last;
  }
  if (layers.Has(Layer::kCloseOnExec)) {
    const auto first = static_cast<unsigned>(last) + 1;
    // At exec, because the Landlock rules are still needed.
    Require(::close_range(first, ~0U, CLOSE_RANGE_CLOEXEC) == 0, moved, "layer close_on_exec: close_range");
  }

  Require(UseCpus(request.limits.cpus), moved, "sched_setaffinity");
  if (layers.Has(Layer::kResourceLimits))
    Require(SetLimits(request.limits, layers), moved, "layer resource_limits: setrlimit");
  const int oom = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (oom >= 0) {  // only steers which process of the box goes first
    (void)!::write(oom, "1000", 4);
    ::close(oom);
  }

  const bool filter_early = HasCapability(CAP_SYS_ADMIN) && !layers.Has(Layer::kNoNewPrivileges);
  uint64_t secrets[2] = {};
  Require(::getrandom(secrets, sizeof(secrets), 0) == sizeof(secrets), moved, "getrandom");
  const auto install_filters = [&] {
    if (!layers.Has(Layer::kSeccomp)) return;
    Require(InstallFilter(config.deny_list), moved, "layer seccomp: installing the filter");
    if (!request.policy.allow_exec) {
      Require(InstallFilter(ExecOnceFilter(secrets[0], secrets[1])), moved,
              "layer seccomp: installing the exec filter");
    }
  };
  if (HasCapability(CAP_SETPCAP)) Require(EmptyBoundingSet(), moved, "emptying the capability bounding set");
  if (filter_early) install_filters();  // needs CAP_SYS_ADMIN where no_new_privs is left out
  if (layers.Has(Layer::kOwnUid)) Require(BecomeUser(config.uid), moved, "layer own_uid: changing the uid");
  Require(SetCapabilities(0), moved, "dropping capabilities");
  if (layers.Has(Layer::kParentDeath)) {
    // After the change of uid, which clears it. The parent is the box's init.
    Require(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, moved, "layer parent_death: prctl");
  }
  if (layers.Has(Layer::kNoNewPrivileges)) {
    Require(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, moved, "layer no_new_privileges: prctl");
  }
  if (::chdir(request.program.working_directory.c_str()) != 0) {
    Fail(moved, ErrorCode::kInvalidArgument, "working directory ", request.program.working_directory.c_str());
  }

  if (layers.Has(Layer::kLandlock)) {
    // /proc/self means another folder for every process, so only this one can name it.
    Status confined = request.policy.mount_proc && !layers.Has(Layer::kMountNamespace)
                          ? config.landlock->AllowReading("/proc/self")
                          : Status();
    if (confined.ok()) confined = config.landlock->Enforce();
    if (!confined.ok()) Fail(moved, ErrorCode::kUnavailable, confined.error().message().c_str());
  }

  std::vector<char*> argv;
  for (const std::string& argument : request.program.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (const std::string& entry : request.program.environment) environment.push_back(const_cast<char*>(entry.c_str()));
  environment.push_back(nullptr);
  if (!filter_early) install_filters();
  // execve takes three arguments; the fifth and sixth registers carry what ExecOnceFilter looks for.
  ::syscall(SYS_execve, argv[0], argv.data(), environment.data(), 0L, secrets[0], secrets[1]);
  Fail(moved, ErrorCode::kInvalidArgument, "argv[0]: executing ", argv[0]);
}

}  // namespace touchstone

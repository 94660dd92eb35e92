#include "sandbox/box/host.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/unique_fd.h"
#include "sandbox/box/file_util.h"
#include "sandbox/box/landlock.h"
#include "sandbox/box/privileges.h"
#include "sandbox/box/uid_range.h"

namespace touchstone {
namespace {

struct NamespaceLayer {
  Layer layer;
  uint64_t flag;
};
constexpr NamespaceLayer kByUnshare[] = {{Layer::kNetNamespace, CLONE_NEWNET},
                                         {Layer::kIpcNamespace, CLONE_NEWIPC},
                                         {Layer::kMountNamespace, CLONE_NEWNS},
                                         {Layer::kUtsNamespace, CLONE_NEWUTS}};

// Maps our uid and gid onto themselves.
Status MapOwnUser(uid_t uid, gid_t gid) {
  const std::string user = std::to_string(uid) + " " + std::to_string(uid) + " 1";
  const std::string group = std::to_string(gid) + " " + std::to_string(gid) + " 1";
  // The files in /proc of a process that is not dumpable are root's.
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  TOUCHSTONE_RETURN_IF_ERROR(WriteKernelFile("/proc/self/setgroups", "deny"));
  TOUCHSTONE_RETURN_IF_ERROR(WriteKernelFile("/proc/self/uid_map", user));
  TOUCHSTONE_RETURN_IF_ERROR(WriteKernelFile("/proc/self/gid_map", group));
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  return {};
}

// What a box with `layers` does first, in a child. Empty when it works, else why not.
std::string TryNamespaces(LayerSet layers) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::strerror(errno);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  const CloneResult child = CloneBox(layers, -1);
  if (child.pid < 0) return std::string("clone3: ") + std::strerror(errno);
  if (child.pid == 0) {
    Status status = EnterNamespaces(layers, uid, gid);
    // Some systems allow user namespaces and then refuse everything inside.
    if (status.ok() && layers.Has(Layer::kMountNamespace) &&
        (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
         ::mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m") != 0)) {
      status = ErrnoError("mount");
    }
    if (status.ok() && layers.Has(Layer::kMountNamespace) && layers.Has(Layer::kPidNamespace) &&
        ::mount("proc", "/tmp", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2,subset=pid") != 0) {
      status = ErrnoError("mounting /proc");
    }
    if (!status.ok()) (void)!::write(write_end.get(), status.error().message().data(), status.error().message().size());
    ::_exit(0);
  }
  ::close(child.pidfd);
  write_end.Reset();
  char why[512];
  const ssize_t got = ::read(read_end.get(), why, sizeof(why));
  ::waitpid(child.pid, nullptr, 0);
  return std::string(why, got > 0 ? static_cast<size_t>(got) : 0);
}

void FindNamespaces(HostLayers& host) {
  LayerSet base;
  if (!HasCapability(CAP_SYS_ADMIN)) {
    // Root without CAP_SYS_ADMIN would stay uid 0 outside: no gain over what `reduced` gives it.
    const std::string why = ::geteuid() == 0 ? "root without CAP_SYS_ADMIN does not use it" : [] {
      LayerSet user;
      user.Add(Layer::kUserNamespace);
      return TryNamespaces(user);
    }();
    host.Set(Layer::kUserNamespace, why.empty(), why.empty() ? "maps the spawner's own user" : why);
    if (why.empty()) base.Add(Layer::kUserNamespace);
    if (!why.empty()) {
      for (const NamespaceLayer& entry : kByUnshare) host.Set(entry.layer, false, "needs CAP_SYS_ADMIN");
      host.Set(Layer::kPidNamespace, false, "needs CAP_SYS_ADMIN");
      return;
    }
  } else {
    host.Set(Layer::kUserNamespace, false, "not needed with CAP_SYS_ADMIN");
  }
  LayerSet with_pid = base;
  with_pid.Add(Layer::kPidNamespace);
  std::string why = TryNamespaces(with_pid);
  host.Set(Layer::kPidNamespace, why.empty(), why);
  if (why.empty()) base = with_pid;
  for (const NamespaceLayer& entry : kByUnshare) {
    LayerSet wanted = base;
    wanted.Add(entry.layer);
    why = TryNamespaces(wanted);
    host.Set(entry.layer, why.empty(), why);
  }
}

}  // namespace

void HostLayers::Set(Layer layer, bool is_available, std::string text) {
  available.Remove(layer);
  if (is_available) available.Add(layer);
  detail[static_cast<size_t>(layer)] = std::move(text);
}

CloneResult CloneBox(LayerSet layers, int cgroup_fd) {
  CloneResult result;
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD;
  if (layers.Has(Layer::kPidNamespace)) arguments.flags |= CLONE_NEWPID;
  if (layers.Has(Layer::kUserNamespace)) arguments.flags |= CLONE_NEWUSER;
  arguments.pidfd = reinterpret_cast<uintptr_t>(&result.pidfd);
  arguments.exit_signal = SIGCHLD;
  if (cgroup_fd >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<uint64_t>(cgroup_fd);
  }
  result.pid = static_cast<int>(::syscall(SYS_clone3, &arguments, sizeof(arguments)));
  return result;
}

Status EnterNamespaces(LayerSet layers, uid_t uid, gid_t gid) {
  if (layers.Has(Layer::kUserNamespace)) {
    TOUCHSTONE_RETURN_IF_ERROR(MapOwnUser(uid, gid));
  }
  for (const NamespaceLayer& entry : kByUnshare) {
    if (layers.Has(entry.layer) && ::unshare(static_cast<int>(entry.flag)) != 0) {
      return LayerError(entry.layer, "unshare");
    }
  }
  constexpr std::string_view kHostName = "box";
  if (layers.Has(Layer::kUtsNamespace) && ::sethostname(kHostName.data(), kHostName.size()) != 0) {
    return LayerError(Layer::kUtsNamespace, "sethostname");
  }
  return {};
}

HostLayers FindHostLayers() {
  HostLayers host;
  if (::geteuid() != 0 || !HasCapability(CAP_SETUID) || !HasCapability(CAP_SETGID)) {
    host.Set(Layer::kOwnUid, false, "needs root with CAP_SETUID and CAP_SETGID");
  } else {
    const auto range = UidRange::Open();
    host.Set(Layer::kOwnUid, range.ok(), range.ok() ? "70000 and up" : range.error().message());
  }
  FindNamespaces(host);
  const bool filters = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
  host.Set(Layer::kSeccomp, filters, filters ? "" : "the kernel has no seccomp");
  const int version = LandlockVersion();
  host.Set(Layer::kLandlock, version >= kLandlockNeeded,
           "version " + std::to_string(version) + ", needed " + std::to_string(kLandlockNeeded));
  host.Set(Layer::kNoNewPrivileges, true, "");
  host.Set(Layer::kResourceLimits, true, "");
  const bool ranges = ::close_range(~0U, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
  host.Set(Layer::kCloseOnExec, ranges, ranges ? "" : "needs close_range with CLOSE_RANGE_CLOEXEC (Linux 5.11)");
  host.Set(Layer::kParentDeath, true, "");
  return host;
}

}  // namespace touchstone

#include "sandbox/box/host.h"

#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "sandbox/box/file_util.h"
#include "sandbox/box/privileges.h"

namespace touchstone {
namespace {

struct NamespaceLayer {
  Layer layer;
  uint64_t flag;
  const char* name;
};
constexpr NamespaceLayer kNamespaces[] = {
    {Layer::kPidNamespace, CLONE_NEWPID, "pid"}, {Layer::kNetNamespace, CLONE_NEWNET, "net"},
    {Layer::kIpcNamespace, CLONE_NEWIPC, "ipc"}, {Layer::kMountNamespace, CLONE_NEWNS, "mnt"},
    {Layer::kUtsNamespace, CLONE_NEWUTS, "uts"}, {Layer::kUserNamespace, CLONE_NEWUSER, "user"},
};

// True when a child with these namespaces can be made.
bool TryClone(LayerSet layers, std::string& why) {
  const CloneResult child = CloneBox(layers, -1);
  if (child.pid == 0) ::_exit(0);
  if (child.pid < 0) {
    why = std::string("clone3: ") + std::strerror(errno);
    return false;
  }
  ::close(child.pidfd);
  ::waitpid(child.pid, nullptr, 0);
  return true;
}

}  // namespace

CloneResult CloneBox(LayerSet layers, int cgroup_fd) {
  CloneResult result;
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD;
  for (const NamespaceLayer& entry : kNamespaces) {
    if (layers.Has(entry.layer)) arguments.flags |= entry.flag;
  }
  arguments.pidfd = reinterpret_cast<uintptr_t>(&result.pidfd);
  arguments.exit_signal = SIGCHLD;
  if (cgroup_fd >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<uint64_t>(cgroup_fd);
  }
  result.pid = static_cast<int>(::syscall(SYS_clone3, &arguments, sizeof(arguments)));
  return result;
}

bool MapOwnUser(unsigned uid, unsigned gid) {
  const std::string user = std::to_string(uid) + " " + std::to_string(uid) + " 1";
  const std::string group = std::to_string(gid) + " " + std::to_string(gid) + " 1";
  return WriteKernelFile("/proc/self/setgroups", "deny").ok() && WriteKernelFile("/proc/self/uid_map", user).ok() &&
         WriteKernelFile("/proc/self/gid_map", group).ok();
}

HostLayers FindHostLayers(LayerSet cgroups, const std::string& cgroups_why) {
  HostLayers host;
  const auto set = [&](Layer layer, bool available, const std::string& detail) {
    if (available) host.available.Add(layer);
    host.detail[static_cast<size_t>(layer)] = detail;
  };
  host.privileged = ::geteuid() == 0 && HasCapability(CAP_SYS_ADMIN) && HasCapability(CAP_SETUID) &&
                    HasCapability(CAP_SETGID) && HasCapability(CAP_SETPCAP);
  set(Layer::kOwnUid, ::geteuid() == 0 && HasCapability(CAP_SETUID) && HasCapability(CAP_SETGID),
      "uids 70000 to 71999");
  LayerSet together;
  if (!host.privileged) {
    LayerSet user;
    user.Add(Layer::kUserNamespace);
    std::string why;
    if (TryClone(user, why)) together = user;
    set(Layer::kUserNamespace, !together.empty(), why);
  } else {
    set(Layer::kUserNamespace, false, "not needed: the spawner is root");
  }
  for (const NamespaceLayer& entry : kNamespaces) {
    if (entry.layer == Layer::kUserNamespace) continue;
    if (!host.privileged && together.empty()) {
      set(entry.layer, false, "needs CAP_SYS_ADMIN or user namespaces");
      continue;
    }
    LayerSet wanted = together;
    wanted.Add(entry.layer);
    std::string why;
    set(entry.layer, TryClone(wanted, why), why);
  }
  set(Layer::kSeccomp, ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0, "");
  set(Layer::kLandlock, false, "");
  set(Layer::kNoNewPrivileges, true, "");
  set(Layer::kResourceLimits, true, "");
  set(Layer::kCloseOnExec, ::syscall(SYS_close_range, ~0U, ~0U, 0) == 0, "close_range");
  set(Layer::kParentDeath, true, "");
  for (Layer layer :
       {Layer::kMemoryCgroup, Layer::kPidsCgroup, Layer::kCpuAccounting, Layer::kFreezer, Layer::kCpuSet}) {
    set(layer, cgroups.Has(layer), cgroups.Has(layer) ? "" : cgroups_why);
  }
  return host;
}

}  // namespace touchstone

#include "sandbox/box/probe.h"

#include "sandbox/box/cgroup.h"
#include "sandbox/box/file_util.h"
#include "sandbox/box/host.h"

namespace touchstone {
namespace {

const char* Remedy(Layer layer) {
  switch (layer) {
    case Layer::kOwnUid:
      return "run as root; in a container keep CAP_SETUID, CAP_SETGID, and a writable /run";
    case Layer::kPidNamespace:
    case Layer::kNetNamespace:
    case Layer::kIpcNamespace:
    case Layer::kMountNamespace:
    case Layer::kUtsNamespace:
      return "run as root with CAP_SYS_ADMIN (docker run --privileged), or allow user namespaces "
             "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)";
    case Layer::kUserNamespace:
      return "only of use without root; allow user namespaces (sysctl user.max_user_namespaces)";
    case Layer::kSeccomp:
      return "use a kernel with CONFIG_SECCOMP_FILTER";
    case Layer::kLandlock:
      return "use Linux 6.2 or later with landlock in CONFIG_LSM or the lsm= boot parameter";
    case Layer::kNoNewPrivileges:
    case Layer::kResourceLimits:
    case Layer::kParentDeath:
      return "";
    case Layer::kMemoryCgroup:
    case Layer::kPidsCgroup:
    case Layer::kCpuAccounting:
    case Layer::kFreezer:
    case Layer::kCpuSet:
      return "make the control groups writable: root on the host, docker run --privileged --cgroupns=private, or a "
             "delegated group (systemd: Delegate=yes) with this controller";
    case Layer::kCloseOnExec:
      return "use Linux 5.11 or later";
  }
  return "";
}

std::string CgroupDetail(Layer layer, const CgroupFolders& folders) {
  const auto pick = [&folders](const std::string& v1) {
    return v1.empty() ? "cgroup v2, " + folders.v2 : "cgroup v1, " + v1;
  };
  switch (layer) {
    case Layer::kMemoryCgroup:
      return pick(folders.memory_v1);
    case Layer::kPidsCgroup:
      return pick(folders.pids_v1);
    case Layer::kCpuAccounting:
      return pick(folders.cpuacct_v1);
    case Layer::kFreezer:
      return pick(folders.freezer_v1);
    case Layer::kCpuSet:
      return pick(folders.cpuset_v1);
    default:
      return "";
  }
}

}  // namespace

std::vector<LayerReport> ProbeHost() {
  const auto cgroups = CgroupHost::Create(ParseCgroupLayout(ReadKernelFile("/proc/self/cgroup").value_or(""),
                                                            ReadKernelFile("/proc/self/mountinfo").value_or("")));
  HostLayers host = FindHostLayers();
  for (Layer layer :
       {Layer::kMemoryCgroup, Layer::kPidsCgroup, Layer::kCpuAccounting, Layer::kFreezer, Layer::kCpuSet}) {
    const bool available = cgroups->folders().layers.Has(layer);
    host.Set(layer, available, available ? CgroupDetail(layer, cgroups->folders()) : cgroups->why());
  }
  std::vector<LayerReport> reports;
  for (int i = 0; i < kLayerCount; ++i) {
    LayerReport report;
    report.layer = static_cast<Layer>(i);
    report.available = host.Has(report.layer);
    report.needed_for_full = LayersOf(Level::kFull).Has(report.layer);
    report.detail = host.detail[static_cast<size_t>(i)];
    if (!report.available) report.remedy = Remedy(report.layer);
    reports.push_back(std::move(report));
  }
  return reports;
}

Level LevelOf(const std::vector<LayerReport>& reports) {
  LayerSet available;
  for (const LayerReport& report : reports) {
    if (report.available) available.Add(report.layer);
  }
  return LevelReached(available);
}

}  // namespace touchstone

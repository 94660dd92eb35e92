#include "sandbox/box/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "sandbox/box/file_util.h"
#include "sandbox/box/owner_name.h"

namespace touchstone {
namespace {

std::string Join(const std::string& folder, const std::string& name) {
  std::string path = folder;
  path += '/';
  return path += name;
}

std::vector<std::string> SubFolders(const std::string& folder) {
  std::vector<std::string> names;
  DIR* stream = ::opendir(folder.c_str());
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream)) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  ::closedir(stream);
  return names;
}

void KillListed(const std::string& folder) {
  const auto procs = ReadKernelFile(folder + "/cgroup.procs");
  if (!procs) return;
  for (const char* at = procs->c_str(); *at != '\0';) {
    char* end = nullptr;
    const long pid = std::strtol(at, &end, 10);
    if (end == at) break;
    if (pid > 1) ::kill(static_cast<pid_t>(pid), SIGKILL);
    at = *end == '\n' ? end + 1 : end;
  }
}

void KillGroup(const std::string& folder) {
  if (WriteKernelFile(folder + "/cgroup.kill", "1").ok()) return;
  KillListed(folder);
  (void)WriteKernelFile(folder + "/freezer.state", "THAWED");  // v1: a frozen process does not die
}

// Whether a list of controllers has all that a box needs.
bool Suffices(const std::string& controllers) {
  for (const char* needed : {" memory", " pids", " cpuset"}) {
    if ((" " + controllers).find(needed) == std::string::npos) return false;
  }
  return true;
}

}  // namespace

std::string ChooseV2Home(const std::string& own_group) {
  const auto own = ReadKernelFile(own_group + "/cgroup.controllers");
  if (!own || Suffices(*own)) return own_group;
  for (std::string folder = own_group; folder.rfind('/') != std::string::npos;) {
    folder.resize(folder.rfind('/'));
    const auto handed_down = ReadKernelFile(folder + "/cgroup.subtree_control");
    if (!handed_down) break;  // above the mount
    if (Suffices(*handed_down) && ::access(folder.c_str(), W_OK) == 0) return folder;
  }
  return own_group;
}

void SweepStaleCgroups(const std::vector<std::string>& own_groups) {
  std::vector<std::string> stale;
  for (const std::string& own_group : own_groups) {
    if (own_group.empty()) continue;
    for (const std::string& name : SubFolders(own_group)) {
      if (IsStaleOwnerName(name)) stale.push_back(Join(own_group, name));
    }
  }
  // First all of them: what one hierarchy has killed, the freezer of another may still hold.
  for (const std::string& folder : stale) {
    for (const std::string& box : SubFolders(folder)) KillGroup(Join(folder, box));
  }
  // The dying keep their groups for a moment. What takes longer is left to the next sweep.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!stale.empty()) {
    std::erase_if(stale, [](const std::string& folder) {
      for (const std::string& box : SubFolders(folder)) ::rmdir(Join(folder, box).c_str());
      return ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
    });
    if (stale.empty() || std::chrono::steady_clock::now() > deadline) return;
    ::usleep(500);
  }
}

std::string CgroupHost::MakeFolder(const std::string& own_group) {
  if (own_group.empty()) return {};
  std::string folder = own_group + "/" + OwnerName();
  if (::mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) return folder;
  why_ += "mkdir " + folder + ": " + std::strerror(errno) + "; ";
  return {};
}

void CgroupHost::PrepareV2(const std::string& own_group) {
  const auto available = ReadKernelFile(own_group + "/cgroup.controllers").value_or("");
  const auto has = [&](const char* name) {
    return (" " + available).find(std::string(" ") + name) != std::string::npos;
  };
  for (const char* controller : {"memory", "pids", "cpuset"}) {
    if (!has(controller)) continue;
    const std::string enable = std::string("+") + controller;
    Status enabled = WriteKernelFile(own_group + "/cgroup.subtree_control", enable);
    if (!enabled.ok() && errno == EBUSY && leaf_.empty()) {
      // A group with processes cannot have children with controllers: its processes move into a leaf beside ours.
      leaf_ = own_group + "/touchstone-leaf";
      own_group_ = own_group;
      ::mkdir(leaf_.c_str(), 0755);
      for (int round = 0; round < 3; ++round) {
        const auto procs = ReadKernelFile(own_group + "/cgroup.procs").value_or("");
        if (procs.empty()) break;
        for (size_t at = 0; at < procs.size();) {
          const size_t end = procs.find('\n', at);
          (void)WriteKernelFile(leaf_ + "/cgroup.procs", procs.substr(at, end - at));
          at = end == std::string::npos ? procs.size() : end + 1;
        }
      }
      enabled = WriteKernelFile(own_group + "/cgroup.subtree_control", enable);
    }
    if (!enabled.ok()) why_ += enabled.error().message() + "; ";
    (void)WriteKernelFile(folders_.v2 + "/cgroup.subtree_control", enable);
  }
  const auto below = " " + ReadKernelFile(folders_.v2 + "/cgroup.subtree_control").value_or("");
  folders_.v2_memory = below.find(" memory") != std::string::npos;
  folders_.v2_pids = below.find(" pids") != std::string::npos;
  folders_.v2_cpuset = below.find(" cpuset") != std::string::npos;
}

std::unique_ptr<CgroupHost> CgroupHost::Create(const CgroupLayout& layout) {
  std::unique_ptr<CgroupHost> host(new CgroupHost);
  CgroupFolders& folders = host->folders_;
  const std::string v2_home = layout.v2.empty() ? "" : ChooseV2Home(layout.v2);
  SweepStaleCgroups(
      {v2_home, layout.memory_v1, layout.pids_v1, layout.cpuacct_v1, layout.cpuset_v1, layout.freezer_v1});
  folders.v2 = host->MakeFolder(v2_home);
  if (!folders.v2.empty()) host->PrepareV2(v2_home);
  const bool v2_freezer = !folders.v2.empty() && ::access((folders.v2 + "/cgroup.freeze").c_str(), W_OK) == 0;
  if (!folders.v2_memory) folders.memory_v1 = host->MakeFolder(layout.memory_v1);
  if (!folders.v2_pids) folders.pids_v1 = host->MakeFolder(layout.pids_v1);
  folders.cpuacct_v1 = host->MakeFolder(layout.cpuacct_v1);
  folders.v2_cpu_usage =
      folders.cpuacct_v1.empty() && !folders.v2.empty() && ReadKernelFile(folders.v2 + "/cpu.stat").has_value();
  if (!v2_freezer) folders.freezer_v1 = host->MakeFolder(layout.freezer_v1);
  if (!folders.v2_cpuset && !layout.cpuset_v1.empty()) {
    folders.cpuset_v1 = host->MakeFolder(layout.cpuset_v1);
    for (const char* file : {"/cpuset.mems", "/cpuset.cpus"}) {
      const auto all = ReadKernelFile(layout.cpuset_v1 + file).value_or("");
      if (folders.cpuset_v1.empty() || WriteKernelFile(folders.cpuset_v1 + file, all).ok()) continue;
      ::rmdir(folders.cpuset_v1.c_str());
      folders.cpuset_v1.clear();
    }
  }
  if (!folders.memory_v1.empty() || folders.v2_memory) folders.layers.Add(Layer::kMemoryCgroup);
  if (!folders.pids_v1.empty() || folders.v2_pids) folders.layers.Add(Layer::kPidsCgroup);
  if (!folders.cpuacct_v1.empty() || folders.v2_cpu_usage) folders.layers.Add(Layer::kCpuAccounting);
  if (!folders.cpuset_v1.empty() || folders.v2_cpuset) folders.layers.Add(Layer::kCpuSet);
  if (v2_freezer || !folders.freezer_v1.empty()) folders.layers.Add(Layer::kFreezer);
  if (host->why_.empty() && layout.v2.empty() && layout.memory_v1.empty()) host->why_ = "no cgroup mount is visible";
  return host;
}

CgroupHost::~CgroupHost() {
  for (const std::string& folder : {folders_.memory_v1, folders_.pids_v1, folders_.cpuacct_v1, folders_.cpuset_v1,
                                    folders_.freezer_v1, folders_.v2}) {
    if (folder.empty()) continue;
    for (const std::string& box : SubFolders(folder)) ::rmdir(Join(folder, box).c_str());
    ::rmdir(folder.c_str());
  }
  if (leaf_.empty()) return;
  // Gives the processes back to the group they came from, unless another spawner still needs it the new way.
  for (const std::string& name : SubFolders(own_group_)) {
    if (IsOwnerName(name)) return;
  }
  for (const char* controller : {"-memory", "-pids", "-cpuset"}) {
    (void)WriteKernelFile(own_group_ + "/cgroup.subtree_control", controller);
  }
  const auto procs = ReadKernelFile(leaf_ + "/cgroup.procs").value_or("");
  for (size_t at = 0; at < procs.size();) {
    const size_t end = procs.find('\n', at);
    (void)WriteKernelFile(own_group_ + "/cgroup.procs", procs.substr(at, end - at));
    at = end == std::string::npos ? procs.size() : end + 1;
  }
  ::rmdir(leaf_.c_str());
}

Result<std::unique_ptr<BoxCgroup>> BoxCgroup::Create(const CgroupFolders& host, LayerSet layers,
                                                     const std::string& name) {
  std::unique_ptr<BoxCgroup> box(new BoxCgroup);
  const auto make = [&](const std::string& parent, std::string& folder) -> Status {
    folder = parent + "/" + name;
    if (::mkdir(folder.c_str(), 0755) == 0) return {};
    Error error = ErrnoError("mkdir " + folder);
    folder.clear();
    return error;
  };
  const bool memory = layers.Has(Layer::kMemoryCgroup);
  const bool pids = layers.Has(Layer::kPidsCgroup);
  const bool cpu = layers.Has(Layer::kCpuAccounting);
  const bool cpuset = layers.Has(Layer::kCpuSet);
  const bool freezer = layers.Has(Layer::kFreezer);
  if (memory && !host.memory_v1.empty()) TOUCHSTONE_RETURN_IF_ERROR(make(host.memory_v1, box->memory_));
  if (pids && !host.pids_v1.empty()) TOUCHSTONE_RETURN_IF_ERROR(make(host.pids_v1, box->pids_));
  if (cpu && !host.cpuacct_v1.empty()) TOUCHSTONE_RETURN_IF_ERROR(make(host.cpuacct_v1, box->cpuacct_));
  if (cpuset && !host.cpuset_v1.empty()) {
    TOUCHSTONE_RETURN_IF_ERROR(make(host.cpuset_v1, box->cpuset_));
    for (const char* file : {"/cpuset.mems", "/cpuset.cpus"}) {
      const auto all = ReadKernelFile(host.cpuset_v1 + file).value_or("");
      TOUCHSTONE_RETURN_IF_ERROR(WriteKernelFile(box->cpuset_ + file, all));
    }
  }
  if (freezer && !host.freezer_v1.empty()) TOUCHSTONE_RETURN_IF_ERROR(make(host.freezer_v1, box->freezer_));
  box->v2_memory_ = memory && host.v2_memory;
  box->v2_pids_ = pids && host.v2_pids;
  box->v2_cpuset_ = cpuset && host.v2_cpuset;
  if (!host.v2.empty() &&
      (freezer || box->v2_memory_ || box->v2_pids_ || box->v2_cpuset_ || (cpu && host.v2_cpu_usage))) {
    TOUCHSTONE_RETURN_IF_ERROR(make(host.v2, box->v2_));
    box->v2_fd_ = OpenFile(box->v2_, O_RDONLY | O_DIRECTORY);
    if (!box->v2_fd_.valid()) return ErrnoError("opening " + box->v2_);
  }
  const std::pair<Layer, const std::string*> v1[] = {{Layer::kMemoryCgroup, &box->memory_},
                                                     {Layer::kPidsCgroup, &box->pids_},
                                                     {Layer::kCpuAccounting, &box->cpuacct_},
                                                     {Layer::kCpuSet, &box->cpuset_},
                                                     {Layer::kFreezer, &box->freezer_}};
  for (const auto& [layer, folder] : v1) {
    if (folder->empty()) continue;
    box->doors_.emplace_back(layer, OpenFile(*folder + "/cgroup.procs", O_RDWR));
    if (!box->doors_.back().second.valid()) return ErrnoError("opening " + *folder);
  }
  for (const std::string* folder : {&box->v2_, &box->pids_, &box->memory_, &box->cpuacct_, &box->freezer_}) {
    if (folder->empty() || box->list_fd_.valid()) continue;
    box->list_fd_ = OpenFile(*folder + "/cgroup.procs", O_RDONLY);
  }
  return box;
}

BoxCgroup::~BoxCgroup() { (void)Remove(); }

std::vector<BoxCgroup::Door> BoxCgroup::doors() const {
  std::vector<Door> doors;
  for (const auto& [layer, fd] : doors_) doors.push_back({layer, fd.get()});
  return doors;
}

Status BoxCgroup::SetLimits(const Limits& limits) {
  const std::string bytes = std::to_string(limits.memory_bytes);
  // The box's init counts as well.
  const std::string tasks = std::to_string(limits.processes + 1);
  std::string cpus;
  for (int cpu : limits.cpus) cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
  if (!memory_.empty()) {
    TOUCHSTONE_RETURN_IF_ERROR(WriteKernelFile(memory_ + "/memory.limit_in_bytes", bytes));
    (void)WriteKernelFile(memory_ + "/memory.memsw.limit_in_bytes", bytes);  // only where swap is counted
  }
  if (v2_memory_) {
    TOUCHSTONE_RETURN_IF_ERROR(WriteKernelFile(v2_ + "/memory.max", bytes));
    (void)WriteKernelFile(v2_ + "/memory.swap.max", "0");
  }
  if (!pids_.empty()) TOUCHSTONE_RETURN_IF_ERROR(WriteKernelFile(pids_ + "/pids.max", tasks));
  if (v2_pids_) TOUCHSTONE_RETURN_IF_ERROR(WriteKernelFile(v2_ + "/pids.max", tasks));
  if (!cpus.empty()) {
    if (!cpuset_.empty()) TOUCHSTONE_RETURN_IF_ERROR(WriteKernelFile(cpuset_ + "/cpuset.cpus", cpus));
    if (v2_cpuset_) TOUCHSTONE_RETURN_IF_ERROR(WriteKernelFile(v2_ + "/cpuset.cpus", cpus));
  }
  return {};
}

UniqueFd BoxCgroup::OpenFreezer() const {
  if (!v2_.empty()) return OpenFile(v2_ + "/cgroup.freeze", O_RDWR);
  return freezer_.empty() ? UniqueFd() : OpenFile(freezer_ + "/freezer.state", O_RDWR);
}

UniqueFd BoxCgroup::OpenFreezerState() const {
  if (!v2_.empty()) return OpenFile(v2_ + "/cgroup.events", O_RDONLY);
  return freezer_.empty() ? UniqueFd() : OpenFile(freezer_ + "/freezer.state", O_RDONLY);
}

UniqueFd BoxCgroup::OpenCpuUsage() const {
  if (!cpuacct_.empty()) return OpenFile(cpuacct_ + "/cpuacct.usage", O_RDONLY);
  return v2_.empty() ? UniqueFd() : OpenFile(v2_ + "/cpu.stat", O_RDONLY);
}

void BoxCgroup::KillAll() {
  if (!v2_.empty()) {
    KillGroup(v2_);
    return;
  }
  for (const std::string* folder : {&freezer_, &pids_, &memory_, &cpuacct_}) {
    if (folder->empty()) continue;
    KillGroup(*folder);
    return;
  }
}

BoxCgroup::Usage BoxCgroup::ReadUsage() const {
  Usage usage;
  if (!memory_.empty()) {
    const auto events = ReadKernelFile(memory_ + "/memory.oom_control").value_or("");
    usage.out_of_memory = FindKey(events, "oom_kill").value_or(0) > 0;
    usage.peak_memory_bytes = ReadKernelNumber(memory_ + "/memory.max_usage_in_bytes").value_or(0);
  } else if (v2_memory_) {
    const auto events = ReadKernelFile(v2_ + "/memory.events").value_or("");
    usage.out_of_memory = FindKey(events, "oom_kill").value_or(0) > 0;
    usage.peak_memory_bytes = ReadKernelNumber(v2_ + "/memory.peak").value_or(0);  // since Linux 5.19
  }
  if (!cpuacct_.empty()) {
    usage.cpu_time_us = ReadKernelNumber(cpuacct_ + "/cpuacct.usage").value_or(0) / 1000;
  } else if (!v2_.empty()) {
    usage.cpu_time_us = FindKey(ReadKernelFile(v2_ + "/cpu.stat").value_or(""), "usage_usec").value_or(0);
  }
  return usage;
}

bool BoxCgroup::Remove() {
  bool gone = true;
  for (std::string* folder : {&memory_, &pids_, &cpuacct_, &cpuset_, &freezer_, &v2_}) {
    if (folder->empty()) continue;
    if (::rmdir(folder->c_str()) == 0 || errno == ENOENT) {
      folder->clear();
    } else {
      gone = false;
    }
  }
  return gone;
}

}  // namespace touchstone

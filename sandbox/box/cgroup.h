// The control groups of boxes.
//
// On v1 each controller is a hierarchy of its own; on v2 one group has them all. Hybrid hosts get memory, pids, cpuacct
// and cpuset from v1 and the freezer from the bare v2 mount: measured, its freezer is ten times faster than that of v1
// (5 µs against 50 µs), and it has cgroup.kill. A spawner has one folder in each hierarchy, below its own group, and
// in it one folder for each box; both vanish with their owner, or by the next spawner's Janitor.
#ifndef TOUCHSTONE_SANDBOX_BOX_CGROUP_H_
#define TOUCHSTONE_SANDBOX_BOX_CGROUP_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/box/cgroup_layout.h"
#include "sandbox/box/layers.h"
#include "sandbox/box/policy.h"

namespace touchstone {

// Which hierarchies a spawner can use, and what each gives.
struct CgroupFolders {
  std::string memory_v1;
  std::string pids_v1;
  std::string cpuacct_v1;
  std::string cpuset_v1;
  std::string freezer_v1;  // only where v2 is missing
  std::string v2;
  bool v2_memory = false;
  bool v2_pids = false;
  bool v2_cpuset = false;
  bool v2_cpu_usage = false;  // only where cpuacct of v1 is missing
  LayerSet layers;            // what this amounts to
};

// The groups of one box. Fresh for each box, so that a descriptor of an old one can never reach a new one.
class BoxCgroup {
 public:
  struct Usage {
    bool out_of_memory = false;
    uint64_t cpu_time_us = 0;
    uint64_t peak_memory_bytes = 0;
  };

  // Makes the folders that `layers` needs.
  static Result<std::unique_ptr<BoxCgroup>> Create(const CgroupFolders& host, LayerSet layers, const std::string& name);
  ~BoxCgroup();
  BoxCgroup(const BoxCgroup&) = delete;
  BoxCgroup& operator=(const BoxCgroup&) = delete;

  Status SetLimits(const Limits& limits);

  // For clone3(CLONE_INTO_CGROUP); -1 without v2.
  int clone_into_fd() const { return v2_fd_.get(); }
  // cgroup.procs of the v1 groups: the box's init writes "0" into each.
  struct Door {
    Layer layer;
    int fd;
  };
  std::vector<Door> doors() const;
  // Lists all processes of the box; -1 without any group.
  int list_fd() const { return list_fd_.get(); }

  UniqueFd OpenFreezer() const;
  UniqueFd OpenFreezerState() const;
  UniqueFd OpenCpuUsage() const;
  bool freezer_v2() const { return !v2_.empty(); }
  bool cpu_usage_v2() const { return cpuacct_.empty(); }

  // SIGKILL for every process in the group, frozen or not; without v2 those that exist at this moment.
  void KillAll();
  Usage ReadUsage() const;
  // False while a process (a zombie too) is still in one of the groups; call again.
  bool Remove();

 private:
  BoxCgroup() = default;
  std::string memory_, pids_, cpuacct_, cpuset_, freezer_, v2_;  // folders; empty: not used
  bool v2_memory_ = false, v2_pids_ = false, v2_cpuset_ = false;
  UniqueFd v2_fd_;
  std::vector<std::pair<Layer, UniqueFd>> doors_;
  UniqueFd list_fd_;
};

// The spawner's own folders in all hierarchies.
class CgroupHost {
 public:
  // Makes the folders, takes over what v2 needs (controllers for children; where our own group has processes they move
  // into a leaf first), and removes folders of spawners that no longer live. Never fails: what is missing is missing
  // from folders().layers, and why() says why.
  static std::unique_ptr<CgroupHost> Create(const CgroupLayout& layout);
  ~CgroupHost();
  CgroupHost(const CgroupHost&) = delete;
  CgroupHost& operator=(const CgroupHost&) = delete;

  const CgroupFolders& folders() const { return folders_; }
  const std::string& why() const { return why_; }

 private:
  CgroupHost() = default;
  std::string MakeFolder(const std::string& own_group);
  void PrepareV2(const std::string& own_group);

  CgroupFolders folders_;
  std::string why_;
  std::string leaf_;       // where we moved the processes of our own v2 group, if we did
  std::string own_group_;  // that group
};

// Where the v2 groups of boxes go: `own_group` when it has the controllers that boxes need; else the nearest group
// above it that already hands them to its children (a service manager often gives a session only some of them);
// `own_group` when there is none. Only looks.
std::string ChooseV2Home(const std::string& own_group);

// Removes the folders that spawners which no longer live left in these groups, with every process in them. Takes at
// most about a second.
void SweepStaleCgroups(const std::vector<std::string>& own_groups);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_CGROUP_H_

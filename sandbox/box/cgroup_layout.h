#ifndef TOUCHSTONE_SANDBOX_BOX_CGROUP_LAYOUT_H_
#define TOUCHSTONE_SANDBOX_BOX_CGROUP_LAYOUT_H_

#include <string>
#include <string_view>

namespace touchstone {

// The folders of this process's own control groups, one for each controller of v1 and one for v2; empty where the host
// has none. A hybrid host (v1 controllers beside a bare v2 mount) has both.
struct CgroupLayout {
  std::string memory_v1;
  std::string pids_v1;
  std::string cpuacct_v1;
  std::string cpuset_v1;
  std::string freezer_v1;
  std::string v2;
};

// From the texts of /proc/self/cgroup and /proc/self/mountinfo. Pure.
CgroupLayout ParseCgroupLayout(std::string_view self_cgroup, std::string_view mountinfo);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_CGROUP_LAYOUT_H_

#ifndef TOUCHSTONE_SANDBOX_BOX_HOST_H_
#define TOUCHSTONE_SANDBOX_BOX_HOST_H_

#include <array>
#include <string>

#include "sandbox/box/cgroup.h"
#include "sandbox/box/layers.h"

namespace touchstone {

// What this host lets this process use, found by trying.
struct HostLayers {
  bool privileged = false;  // we may make namespaces and change uids without a user namespace
  LayerSet available;
  std::array<std::string, kLayerCount> detail;  // why not, or how

  bool Has(Layer layer) const { return available.Has(layer); }
};

// `cgroups` are those that the process could set up, with the reason for what is missing.
HostLayers FindHostLayers(LayerSet cgroups, const std::string& cgroups_why);

// clone3 with these namespaces; like fork. Returns the child's pid, 0 in the child, -1 with errno.
struct CloneResult {
  int pid = -1;
  int pidfd = -1;
};
CloneResult CloneBox(LayerSet layers, int cgroup_fd);

// Maps our uid and gid onto themselves in the user namespace that the calling process is in.
bool MapOwnUser(unsigned uid, unsigned gid);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_HOST_H_

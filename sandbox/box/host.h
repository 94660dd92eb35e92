#ifndef TOUCHSTONE_SANDBOX_BOX_HOST_H_
#define TOUCHSTONE_SANDBOX_BOX_HOST_H_

#include <sys/types.h>

#include <array>
#include <string>

#include "base/result.h"
#include "sandbox/box/layers.h"

namespace touchstone {

// What this host lets this process use, found by trying.
struct HostLayers {
  LayerSet available;
  std::array<std::string, kLayerCount> detail;  // how, or why not

  bool Has(Layer layer) const { return available.Has(layer); }
  void Set(Layer layer, bool is_available, std::string text);
};

// Everything but the control groups, which belong to a spawner.
HostLayers FindHostLayers();

// Like fork, into new pid and user namespaces where `layers` has them and into the v2 group `cgroup_fd` unless it is
// -1. `pid` is 0 in the child and -1 with errno on failure.
struct CloneResult {
  int pid = -1;
  int pidfd = -1;
};
CloneResult CloneBox(LayerSet layers, int cgroup_fd);

// In the child of CloneBox: maps its user (`uid` and `gid` are those it had outside) where there is a user namespace
// and makes the other namespaces. Here and not by clone, because they cost milliseconds and a spawner has other boxes
// to serve.
Status EnterNamespaces(LayerSet layers, uid_t uid, gid_t gid);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_HOST_H_

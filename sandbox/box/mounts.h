#ifndef TOUCHSTONE_SANDBOX_BOX_MOUNTS_H_
#define TOUCHSTONE_SANDBOX_BOX_MOUNTS_H_

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/box/policy.h"

namespace touchstone {

struct RootOptions {
  uid_t uid = 0;            // owner of /tmp and /dev/shm
  bool make_nodes = false;  // mknod works here (root outside a user namespace); otherwise the host's nodes are bound
};

// Called in a fresh mount namespace by the box's init: replaces the whole file system by a read-only tmpfs with the
// policy's binds, a few device nodes, /tmp, /dev/shm and (where the policy says so) /proc. Returns /tmp (O_PATH).
// kInvalidArgument names a bind that is missing or has no place.
Result<UniqueFd> BuildRoot(const Policy& policy, const Limits& limits, const RootOptions& options);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_MOUNTS_H_

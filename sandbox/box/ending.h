// How a box comes to its end, in boxes with a pid namespace and without.
#ifndef TOUCHSTONE_SANDBOX_BOX_ENDING_H_
#define TOUCHSTONE_SANDBOX_BOX_ENDING_H_

#include <sys/types.h>

#include <optional>

#include "sandbox/box/layers.h"

namespace touchstone {

// Waits for the program, reaping everything else that ends meanwhile. Its wait status; nullopt when `heed_term` and a
// SIGTERM came first. SIGCHLD and SIGTERM must be blocked.
std::optional<int> AwaitProgram(pid_t program, bool heed_term);

// Processes of the box that outlived its program, the caller (its init) not counted: exact with `list_fd` (a
// cgroup.procs file), else 1 for "some".
int CountLeftovers(int list_fd);

// For an init that is not pid 1: kills and reaps what is left. With kOwnUid it becomes that user for it.
void KillTheRest(LayerSet layers, uid_t uid);

// For the spawner: SIGKILL for every process of `uid`, at once. Needs CAP_SETUID.
void KillUser(uid_t uid);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_ENDING_H_

// The system call filters of a box: everything is allowed but a list of what a candidate has no business with. A list
// of refusals, not of permissions, because closed libraries (a GPU driver's) and compilers must run unchanged.
#ifndef TOUCHSTONE_SANDBOX_BOX_SECCOMP_H_
#define TOUCHSTONE_SANDBOX_BOX_SECCOMP_H_

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace touchstone {

using FilterProgram = std::vector<sock_filter>;

// The refusals, made once with libseccomp by the spawner. `pinned` also refuses sched_setaffinity: for boxes that have
// been given their own cores.
Result<FilterProgram> CompileDenyList(bool pinned);

// A filter that lets exactly one execve through: the one that carries `secret` in the two argument registers which
// execve does not use. The kernel clears registers and memory at exec, so the program that it starts cannot know it.
FilterProgram ExecOnceFilter(uint64_t secret_a, uint64_t secret_b);

// For the calling thread and what it starts. Needs no_new_privs or CAP_SYS_ADMIN. False with errno on failure.
bool InstallFilter(std::span<const sock_filter> program);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_SECCOMP_H_

#ifndef TOUCHSTONE_SANDBOX_BOX_TARGET_H_
#define TOUCHSTONE_SANDBOX_BOX_TARGET_H_

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "sandbox/box/landlock.h"
#include "sandbox/box/layers.h"
#include "sandbox/box/seccomp.h"
#include "sandbox/box/wire.h"

namespace touchstone {

// Why a box's first program could not be started; travels through a pipe that a successful exec closes.
struct StartFailure {
  ErrorCode code = ErrorCode::kInternal;
  int error = 0;  // errno
  char step[200] = {};
};

struct TargetConfig {
  const StartRequest* request = nullptr;
  LayerSet layers;           // to activate, each or fail
  uid_t uid = 0;             // with kOwnUid
  std::span<const int> fds;  // of the program: become 3, 4, …
  int stdout_fd = -1;        // -1: /dev/null
  int stderr_fd = -1;
  int null_fd = -1;       // /dev/null
  int failure_pipe = -1;  // close-on-exec
  std::span<const sock_filter> deny_list;
  LandlockRules* landlock = nullptr;  // with kLandlock
};

// The last steps of the process that becomes the box's first program: limits, privileges, descriptors, filters, exec.
// Does not return; failures go into the pipe.
[[noreturn]] void BecomeTarget(const TargetConfig& config);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_TARGET_H_

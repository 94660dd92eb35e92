// The process that becomes a box: it enters the groups and namespaces, waits for its request, builds the file system,
// starts the program and stays as the box's init (pid 1 of its namespace) until the program has ended.
#ifndef TOUCHSTONE_SANDBOX_BOX_INIT_H_
#define TOUCHSTONE_SANDBOX_BOX_INIT_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/box/cgroup.h"
#include "sandbox/box/layers.h"
#include "sandbox/box/seccomp.h"

namespace touchstone {

struct InitConfig {
  LayerSet layers;  // that this box is to have, but for those that depend on the request
  uid_t uid = 0;    // of the program; with kOwnUid init itself runs as uid + 1
  gid_t gid = 0;    // of the program, where it has no uid of its own
  pid_t spawner = 0;
  int control = -1;                                 // channel to the spawner: the request comes in, InitReply goes out
  int end = -1;                                     // pipe: gets the EndRecord
  std::vector<BoxCgroup::Door> doors;               // control groups to enter
  int list_fd = -1;                                 // cgroup.procs file that lists the box
  std::string folder;                               // stands for /tmp in a box without a mount namespace
  const FilterProgram* deny_list = nullptr;         // for boxes with all cores
  const FilterProgram* deny_list_pinned = nullptr;  // for boxes with their own
};

// Runs in the child of the spawner's clone3. Never returns.
[[noreturn]] void InitMain(const InitConfig& config);

// What init says to the spawner when the program runs (with /tmp as the only descriptor) or could not be started.
struct InitReply {
  LayerSet layers;
};
std::string EncodeInitReply(const InitReply& reply);
Result<InitReply> DecodeInitReply(const std::string& bytes);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_INIT_H_

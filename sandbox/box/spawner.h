#ifndef TOUCHSTONE_SANDBOX_BOX_SPAWNER_H_
#define TOUCHSTONE_SANDBOX_BOX_SPAWNER_H_

#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/box/box.h"
#include "sandbox/box/policy.h"

namespace touchstone {

// A client's connection to the spawner process. One thread at a time for each connection; any number of connections.
class Spawner {
 public:
  // Starts the program `touchstone-spawner` (beside the running program unless `path` is given) and connects to it. The
  // spawner and all boxes die when the last connection is closed or the starting process dies.
  static Result<Spawner> Launch(const std::string& path = "");
  // Takes over a connection that another process made with NewConnection().
  static Spawner Adopt(UniqueFd channel) { return Spawner(std::move(channel)); }

  Spawner(Spawner&&) = default;
  Spawner& operator=(Spawner&&) = default;

  // A second connection, to give to a child.
  Result<UniqueFd> NewConnection();

  // Builds a box and starts `program` in it. `fds[i]` becomes descriptor 3 + i of the program and stays the caller's.
  // Errors: kUnavailable (the host lacks a layer of the policy's minimum level, or the spawner is gone), kExhausted (no
  // free uid), kInvalidArgument (names the field). Blocks for some milliseconds.
  Result<Box> Start(const Policy& policy, const Limits& limits, const Program& program, std::span<const int> fds = {});

  int channel() const { return channel_.get(); }

 private:
  explicit Spawner(UniqueFd channel) : channel_(std::move(channel)) {}
  UniqueFd channel_;
};

// The spawner process: serves requests on `channel` until every connection is closed or the process `starter` has died.
// Returns the exit code. The calling process must have one thread.
int SpawnerMain(int channel, pid_t starter);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_SPAWNER_H_

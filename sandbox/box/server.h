#ifndef TOUCHSTONE_SANDBOX_BOX_SERVER_H_
#define TOUCHSTONE_SANDBOX_BOX_SERVER_H_

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "base/channel.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/box/cgroup.h"
#include "sandbox/box/host.h"
#include "sandbox/box/init.h"
#include "sandbox/box/seccomp.h"
#include "sandbox/box/uid_range.h"
#include "sandbox/box/wire.h"

namespace touchstone {

// The spawner process. One thread, one poll loop; nothing in it blocks for longer than a clone. See spawner_main.cc.
class SpawnerServer {
 public:
  // Tells the client on `channel` that it is ready, or why not.
  static Result<std::unique_ptr<SpawnerServer>> Create(UniqueFd channel, UniqueFd starter);
  ~SpawnerServer();
  SpawnerServer(const SpawnerServer&) = delete;
  SpawnerServer& operator=(const SpawnerServer&) = delete;

  // Until every connection is closed or the process that started us has died.
  void Serve();

 private:
  // A process made by us, from its clone until nothing of it exists any more.
  struct Box {
    enum class State { kWarm, kStarting, kRunning };
    State state = State::kWarm;
    uint32_t id = 0;
    pid_t pid = 0;
    uid_t uid = 0;
    LayerSet layers;
    LayerSet minimum;  // of its request
    UniqueFd pidfd, control, end, channel, stdout_fd, stderr_fd;
    std::unique_ptr<BoxCgroup> cgroup;
    int connection = -1;  // that waits for its start
    std::chrono::steady_clock::time_point deadline;
    bool killed = false;
  };

  SpawnerServer() = default;
  Status Prepare();
  int PollTimeout() const;
  bool HandleConnection(int channel);  // false: closed
  Status HandleStart(int connection, const Message& message);
  Result<LayerSet> ChooseLayers(const StartRequest& request) const;
  Result<Box*> NewBox(LayerSet layers);
  Result<Box*> WarmBox(LayerSet layers);
  void FinishStart(Box& box);
  Status SendStarted(Box& box, const InitReply& reply, UniqueFd artifacts);
  void Kill(Box& box);
  bool Reap(Box& box);  // true: no process of it exists any more

  std::vector<UniqueFd> connections_;
  UniqueFd starter_;  // pidfd
  std::unique_ptr<HostLayers> host_;
  std::unique_ptr<CgroupHost> cgroups_;
  std::unique_ptr<UidRange> uids_;
  FilterProgram deny_list_, deny_list_pinned_;
  std::list<Box> boxes_;
  std::vector<std::unique_ptr<BoxCgroup>> leaving_;  // groups whose folders could not be removed yet
  uint32_t next_id_ = 1;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_SERVER_H_

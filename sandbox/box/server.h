#ifndef TOUCHSTONE_SANDBOX_BOX_SERVER_H_
#define TOUCHSTONE_SANDBOX_BOX_SERVER_H_

#include <poll.h>

#include <chrono>
#include <memory>
#include <vector>

#include "base/channel.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/box/cgroup.h"
#include "sandbox/box/host.h"
#include "sandbox/box/served_box.h"
#include "sandbox/box/uid_range.h"

namespace touchstone {

// The spawner process. One thread, one poll loop; nothing in it blocks for longer than a clone. See spawner_main.cc.
class SpawnerServer {
 public:
  // `starter`: pidfd of the process that started us. Tells the client on `channel` that it is ready, or why not.
  static Result<std::unique_ptr<SpawnerServer>> Create(UniqueFd channel, UniqueFd starter);
  ~SpawnerServer();
  SpawnerServer(const SpawnerServer&) = delete;
  SpawnerServer& operator=(const SpawnerServer&) = delete;

  // Until every connection is closed or the starter has died.
  void Serve();

 private:
  SpawnerServer() = default;
  Status Prepare();
  int PollTimeout() const;  // ms
  void HandleIdle();
  void HandleBoxes(size_t first);  // their places in pollers_ begin there
  void HandleConnections(size_t count);
  bool HandleRequest(int connection);  // false: it is closed
  Status HandleStart(int connection, const Message& message);
  Status HandleConnect(int connection);
  Result<LayerSet> ChooseLayers(const StartRequest& request) const;
  Result<ServedBox*> NewBox(LayerSet layers);
  LayerSet LayersWithout(LayerSet disabled) const;
  bool WantsWarmBox() const;
  void SweepBoxes();

  std::vector<UniqueFd> connections_;
  UniqueFd starter_;
  HostLayers host_;
  std::unique_ptr<CgroupHost> cgroups_;
  std::unique_ptr<UidRange> uids_;
  BoxFactory factory_;
  std::vector<std::unique_ptr<ServedBox>> boxes_;
  std::vector<std::unique_ptr<BoxCgroup>> leaving_;  // groups whose folders could not be removed yet
  std::vector<pollfd> pollers_;
  uint32_t next_id_ = 1;
  bool warming_ = true;  // false after a failure, until a client asks for a box again
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_SERVER_H_

#ifndef TOUCHSTONE_SANDBOX_BOX_SERVED_BOX_H_
#define TOUCHSTONE_SANDBOX_BOX_SERVED_BOX_H_

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/box/cgroup.h"
#include "sandbox/box/init.h"
#include "sandbox/box/private_folder.h"
#include "sandbox/box/uid_range.h"
#include "sandbox/box/wire.h"

namespace touchstone {

// What a spawner needs to make boxes.
struct BoxFactory {
  CgroupFolders cgroups;
  UidRange* uids = nullptr;  // where boxes have their own
  FilterProgram deny_list, deny_list_pinned;
};

// The spawner's record of one box, from the clone of its init until nothing of it is left.
class ServedBox {
 public:
  enum class State {
    kWarm,      // waits for a request
    kStarting,  // has got one; its answer is awaited
    kRunning,   // a client holds it
    kDying,     // init is dead, other processes may not be (only without a pid namespace)
    kGone,      // only its private folder is left, for as long as the client holds the box
  };

  // kUnavailable, kExhausted (no free uid).
  static Result<std::unique_ptr<ServedBox>> Create(const BoxFactory& factory, LayerSet layers, uint32_t id);
  ~ServedBox();
  ServedBox(const ServedBox&) = delete;
  ServedBox& operator=(const ServedBox&) = delete;

  // Hands it `request` (as it came, with all descriptors of the program). `connection` waits for the answer.
  Status Start(const StartRequest& request, const std::string& bytes, std::span<const int> fds, int connection);
  // The answer has come: tells the connection, with the handles or why not.
  void FinishStart();
  // The connection that waited is closed.
  void Abandon();
  void Kill();
  // Call when init may have ended, or again while kDying: moves on as far as it goes and reports to the client.
  void Advance();

  State state() const { return state_; }
  bool usable() const { return state_ == State::kWarm && !killed_; }
  LayerSet layers() const { return layers_; }
  int pidfd() const { return pidfd_.get(); }
  // What to poll beside pidfd; -1: nothing.
  int watched() const { return state_ == State::kStarting ? control_.get() : channel_.get(); }
  int connection() const { return connection_; }
  std::chrono::steady_clock::time_point deadline() const { return deadline_; }
  // Folders whose processes are still on their way out; the caller keeps them until Remove() succeeds.
  std::unique_ptr<BoxCgroup> TakeCgroup() { return std::move(cgroup_); }
  // Where stdout and stderr are read; kept until the client has them.
  UniqueFd stdout_fd, stderr_fd;

 private:
  ServedBox() = default;
  Status SendStarted(const InitReply& reply, const UniqueFd& artifacts);
  bool EveryProcessIsGone() const;

  State state_ = State::kWarm;
  uint32_t id_ = 0;
  pid_t pid_ = 0;
  uid_t uid_ = 0;
  LayerSet layers_;
  Level minimum_ = Level::kFull;  // of its request
  UniqueFd pidfd_, control_, end_, channel_;
  std::unique_ptr<BoxCgroup> cgroup_;
  PrivateFolder folder_;
  UidRange* uids_ = nullptr;
  int connection_ = -1;
  std::chrono::steady_clock::time_point deadline_;
  bool killed_ = false;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_SERVED_BOX_H_

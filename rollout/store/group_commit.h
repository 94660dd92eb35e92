// Pacing: one thread that takes everything that waits and commits it at once, so that many writes share one sync of the
// disk, and a lone write does not wait for others.
#ifndef TOUCHSTONE_ROLLOUT_STORE_GROUP_COMMIT_H_
#define TOUCHSTONE_ROLLOUT_STORE_GROUP_COMMIT_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "rollout/store.h"
#include "rollout/store/write_connection.h"

namespace touchstone {

// Thread-safe.
class GroupCommit {
 public:
  // `committed` is told the last sequence after each commit, before the writes' own callbacks.
  GroupCommit(WriteConnection connection, size_t max_batch, size_t max_waiting,
              std::function<void(uint64_t)> committed);
  // Commits what waits.
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Never blocks for the disk. With `max_waiting` writes in front of it, `done` gets kExhausted.
  void Submit(WriteConnection::Work work, RolloutStore::Done done);
  // `done` gets the error, on the writer thread like every other answer.
  void Refuse(Error error, RolloutStore::Done done);

 private:
  struct Write {
    WriteConnection::Work work;
    RolloutStore::Done done;
    std::optional<Error> refused;  // in place of the work
  };
  void Run();
  std::vector<Write> TakeBatch();
  void Commit(std::vector<Write>& batch);

  const size_t max_batch_;
  const size_t max_waiting_;
  const std::function<void(uint64_t)> committed_;

  // The writer thread's.
  WriteConnection connection_;

  Mutex mutex_;
  CondVar changed_;
  std::deque<Write> waiting_ TOUCHSTONE_GUARDED_BY(mutex_);
  bool stopping_ TOUCHSTONE_GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_GROUP_COMMIT_H_

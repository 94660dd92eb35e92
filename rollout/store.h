#ifndef TOUCHSTONE_ROLLOUT_STORE_H_
#define TOUCHSTONE_ROLLOUT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rollout/record.h"

namespace touchstone {

struct StoreOptions {
  std::string folder;                            // made where it is not there; one process at a time may write to it
  bool read_only = false;                        // beside a writer, too
  size_t max_batch = 512;                        // writes in one commit
  size_t max_waiting = 65'536;                   // writes that wait for a commit; beyond it Append answers kExhausted
  uint64_t min_free_bytes = uint64_t{64} << 20;  // less free disk: writes are refused with kExhausted before they hurt
};

// What lists show: a rollout without its texts and without the full record.
struct RolloutSummary {
  uint64_t sequence = 0;
  std::string id;
  std::string session;
  int turn = 0;
  std::string task;
  std::string group_id;
  std::string parent;
  std::string policy_version;
  EvalStatus status = EvalStatus::kEnvironmentError;
  std::string reward_preset;
  std::optional<double> reward;
  double speedup = 0;           // rewarded
  std::optional<double> score;  // RolloutRecord::score()
  UnixMicros time{};
};

// What selectors keep of a rollout that has a score and a source.
struct ScoredRollout {
  uint64_t sequence = 0;
  std::string task;
  std::string group_id;
  double score = 0;
  uint64_t source = 0;  // of its hash: equal sources have equal ones
};

struct RolloutFilter {
  std::string task;  // empty: any
  std::string group_id;
  std::string session;
  std::string policy_version;
  std::optional<EvalStatus> status;
  bool eligible_only = false;  // those with a score
  uint64_t after = 0;          // sequence
  uint64_t limit = 1000;
};

// The rollouts of one node: append-only, durable, compressed; texts are stored once by hash (docs/rollout-format.md).
// Thread-safe.
class RolloutStore {
 public:
  // The sequence of the row. Called once, on the store's writer thread: must not block or call back into writes that
  // wait.
  using Done = std::function<void(Result<uint64_t>)>;

  // kNotFound (read_only, and there is none), kUnavailable (another writer, folder not writable), kCorrupt (not a
  // store, or damaged: names what).
  static Result<std::unique_ptr<RolloutStore>> Open(StoreOptions options);
  virtual ~RolloutStore() = default;  // waits until what was appended is durable

  // Each returns at once; `done` follows when the write is on the disk (group commit), or could not be made:
  // kInvalidArgument: a field cannot be, is already there (id; request key, of rollouts and sessions together; session
  // and turn), or the session is not; kNotFound: no session to close; kExhausted: disk or queue full; kUnavailable: the
  // disk refuses, or the files were taken away. A failed write leaves the store as it was. Writes of one thread are
  // made in its order.
  virtual void Append(RolloutRecord record, Done done) = 0;        // ends the pending row of the same request, too
  virtual void OpenSession(SessionRecord session, Done done) = 0;  // ends the pending row of its request, too
  virtual void CloseSession(std::string id, UnixMicros when, std::string why, Done done) = 0;
  virtual void Accept(PendingRecord pending, Done done) = 0;
  virtual void Forget(RequestKey pending, Done done) = 0;  // cancelled: the pending row goes

  // The same, waiting. Not on the writer thread.
  Result<uint64_t> Append(RolloutRecord record);

  // What is committed. kNotFound; kCorrupt where bytes are not what was written.
  virtual Result<RolloutRecord> Read(const std::string& id) = 0;
  virtual Result<RolloutRecord> Read(uint64_t sequence) = 0;
  virtual Result<std::optional<RolloutRecord>> FindByRequest(const RequestKey& key) = 0;
  virtual Result<std::vector<RolloutSummary>> List(const RolloutFilter& filter) = 0;  // by sequence, ascending
  // Those with after < sequence ≤ upto, ascending. Made for speed: the rows' checksums are not looked at.
  virtual Result<std::vector<ScoredRollout>> Scored(uint64_t after, uint64_t upto) = 0;
  virtual Result<std::optional<SessionRecord>> FindSession(const std::string& id) = 0;
  virtual Result<std::optional<SessionRecord>> FindSessionByRequest(const RequestKey& key) = 0;
  virtual Result<std::vector<SessionRecord>> OpenSessions() = 0;
  virtual Result<std::vector<RolloutRecord>> RolloutsOf(const std::string& session) = 0;  // by turn
  virtual Result<std::vector<PendingRecord>> Pending() = 0;
  virtual uint64_t last_sequence() = 0;

  // Reads everything and checks every checksum, count and reference. The text says what was found; kCorrupt names the
  // first damaged row.
  virtual Result<std::string> Verify() = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_H_

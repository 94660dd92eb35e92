// The one connection that writes: transactions of many writes, in which a refused one does not harm the others.
#ifndef TOUCHSTONE_ROLLOUT_STORE_WRITE_CONNECTION_H_
#define TOUCHSTONE_ROLLOUT_STORE_WRITE_CONNECTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rollout/record.h"
#include "rollout/store.h"
#include "rollout/store/item.h"
#include "rollout/store/payload.h"
#include "rollout/store/pending_table.h"
#include "rollout/store/record_codec.h"
#include "rollout/store/session_table.h"
#include "rollout/store/sqlite.h"
#include "rollout/store/store_folder.h"

namespace touchstone {

// One thread at a time.
class WriteConnection {
 public:
  // Claims the folder, and makes the store where there is none. Errors as RolloutStore::Open.
  static Result<WriteConnection> Open(const StoreOptions& options);

  // One write. Its own errors (kInvalidArgument, kNotFound) must leave the tables as they were; every other error
  // ends the transaction.
  using Work = std::function<Result<uint64_t>(WriteConnection&)>;

  // All in one transaction. When it returns, those with a value are durable, and nothing is left of those with an
  // error.
  std::vector<Result<uint64_t>> Commit(const std::vector<const Work*>& works);

  // For works.
  Result<uint64_t> Append(const EncodedRollout& rollout);
  Result<uint64_t> OpenSession(const SessionRecord& session, const Payload& spec);
  Result<uint64_t> CloseSession(std::string_view id, UnixMicros when, std::string_view why);
  Result<uint64_t> Accept(const PendingRecord& pending);
  Result<uint64_t> Forget(const RequestKey& key);

  uint64_t last_sequence() const { return last_sequence_; }  // committed

 private:
  struct Tables {
    PayloadTable payloads;
    ResultTable results;
    ItemTable items;
    SessionTable sessions;
    PendingTable pending;
    Statement begin;
    Statement commit;
  };
  WriteConnection(StoreFolder folder, std::unique_ptr<Database> database, Tables tables, uint64_t min_free_bytes,
                  uint64_t last_sequence)
      : folder_(std::move(folder)),
        database_(std::move(database)),
        tables_(std::move(tables)),
        min_free_bytes_(min_free_bytes),
        last_sequence_(last_sequence),
        next_sequence_(last_sequence + 1) {}

  Status Try(const std::vector<const Work*>& works, std::vector<Result<uint64_t>>& results);
  void RollBack();

  StoreFolder folder_;
  std::unique_ptr<Database> database_;
  Tables tables_;
  uint64_t min_free_bytes_;
  uint64_t last_sequence_;
  uint64_t next_sequence_;  // of the transaction under way
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_WRITE_CONNECTION_H_

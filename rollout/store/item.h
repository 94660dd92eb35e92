// The rows of rollouts: everything of a rollout but its texts, which it names by hash.
#ifndef TOUCHSTONE_ROLLOUT_STORE_ITEM_H_
#define TOUCHSTONE_ROLLOUT_STORE_ITEM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rollout/record.h"
#include "rollout/store.h"
#include "rollout/store/sqlite.h"

namespace touchstone {

struct ItemRow {
  RolloutSummary summary;
  RequestKey request;
  std::string exemplars;  // JSON array of ids
  std::string prompt_hash;
  std::string response;  // hashes of payloads
  std::string source;
  std::string result;
  int64_t code_begin = -1;
  int64_t code_end = -1;
  double reward_increment = 0;
  double best_speedup = 0;
  bool terminated = false;
  bool truncated = false;

  // Of all fields but the sequence, which the writer knows at the last moment and adds.
  int64_t Checksum() const;
};

// The table of rollouts, through one connection.
class ItemTable {
 public:
  static Result<ItemTable> Create(Database& database);

  // `checksum` is row.Checksum(). kInvalidArgument: its id, request, or session and turn are there already; nothing was
  // written then.
  Status Insert(const ItemRow& row, int64_t checksum, uint64_t sequence);

  // kCorrupt where the row is not what was written.
  Result<std::optional<ItemRow>> FindById(std::string_view id);
  Result<std::optional<ItemRow>> FindBySequence(uint64_t sequence);
  Result<std::optional<ItemRow>> FindByRequest(const RequestKey& key);
  Result<bool> Contains(const RequestKey& key);
  Result<std::vector<ItemRow>> OfSession(std::string_view session);
  Result<std::vector<ItemRow>> List(const RolloutFilter& filter);
  Result<std::vector<ScoredRollout>> Scored(uint64_t after, uint64_t upto);

 private:
  ItemTable(Database& database, Statement insert, Statement by_id, Statement by_sequence, Statement by_request,
            Statement contains, Statement of_session, Statement scored)
      : database_(&database),
        insert_(std::move(insert)),
        by_id_(std::move(by_id)),
        by_sequence_(std::move(by_sequence)),
        by_request_(std::move(by_request)),
        contains_(std::move(contains)),
        of_session_(std::move(of_session)),
        scored_(std::move(scored)) {}

  Database* database_;
  Statement insert_;
  Statement by_id_;
  Statement by_sequence_;
  Statement by_request_;
  Statement contains_;
  Statement of_session_;
  Statement scored_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_ITEM_H_

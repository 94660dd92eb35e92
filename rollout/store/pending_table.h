// The rows of requests that are not finished, through one connection.
#ifndef TOUCHSTONE_ROLLOUT_STORE_PENDING_TABLE_H_
#define TOUCHSTONE_ROLLOUT_STORE_PENDING_TABLE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rollout/record.h"
#include "rollout/store/sqlite.h"

namespace touchstone {

class PendingTable {
 public:
  static Result<PendingTable> Create(Database& database);

  // kInvalidArgument: it is pending already. The value is the number of the row.
  Result<uint64_t> Insert(const PendingRecord& pending);
  // Nothing where it is not there.
  Status Remove(const RequestKey& key);
  // In the order in which they were accepted. kCorrupt where a row is not what was written.
  Result<std::vector<PendingRecord>> All();

 private:
  PendingTable(Statement insert, Statement remove, Statement all)
      : insert_(std::move(insert)), remove_(std::move(remove)), all_(std::move(all)) {}
  Statement insert_;
  Statement remove_;
  Statement all_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_PENDING_TABLE_H_

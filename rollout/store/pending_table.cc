#include "rollout/store/pending_table.h"

#include "rollout/store/row_checksum.h"

namespace touchstone {
namespace {

int64_t Checksum(const PendingRecord& pending) {
  RowChecksum checksum;
  checksum.Add(pending.request.client).Add(pending.request.request_id);
  checksum.Add(int64_t{pending.accepted.count()}).Add(pending.payload);
  return checksum.Value();
}

}  // namespace

Result<PendingTable> PendingTable::Create(Database& database) {
  TOUCHSTONE_ASSIGN(Statement insert,
                    database.Prepare("INSERT INTO pending (client, request_id, accepted, payload, checksum) "
                                     "VALUES (?, ?, ?, ?, ?)"));
  TOUCHSTONE_ASSIGN(Statement remove, database.Prepare("DELETE FROM pending WHERE request_id = ? AND client = ?"));
  TOUCHSTONE_ASSIGN(Statement all, database.Prepare("SELECT client, request_id, accepted, payload, checksum "
                                                    "FROM pending ORDER BY rowid"));
  return PendingTable(std::move(insert), std::move(remove), std::move(all));
}

Result<uint64_t> PendingTable::Insert(const PendingRecord& pending) {
  insert_.Bind(1, pending.request.client)
      .Bind(2, pending.request.request_id)
      .Bind(3, int64_t{pending.accepted.count()})
      .BindBlob(4, pending.payload)
      .Bind(5, Checksum(pending));
  const Status status = insert_.Run();
  if (status.ok()) return static_cast<uint64_t>(insert_.last_row());
  if (status.error().code() != ErrorCode::kInvalidArgument) return status.error();
  return Error(ErrorCode::kInvalidArgument, "request: request '" + pending.request.request_id + "' of client '" +
                                                pending.request.client + "' is pending already");
}

Status PendingTable::Remove(const RequestKey& key) {
  remove_.Bind(1, key.request_id).Bind(2, key.client);
  return remove_.Run();
}

Result<std::vector<PendingRecord>> PendingTable::All() {
  const StatementScope scope(all_);
  std::vector<PendingRecord> rows;
  for (;;) {
    TOUCHSTONE_ASSIGN(const bool found, all_.Step());
    if (!found) return rows;
    PendingRecord row;
    row.request = {all_.Text(0), all_.Text(1)};
    row.accepted = UnixMicros(all_.Int(2));
    row.payload = all_.Text(3);
    if (all_.Int(4) != Checksum(row)) {
      return Error(ErrorCode::kCorrupt, "pending request '" + row.request.request_id + "' of client '" +
                                            row.request.client + "': the row is not what was written");
    }
    rows.push_back(std::move(row));
  }
}

}  // namespace touchstone

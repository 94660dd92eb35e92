#include "rollout/store/write_connection.h"

#include <string>

#include "rollout/format.h"
#include "rollout/store/schema.h"

namespace touchstone {
namespace {

// The writer's page cache: the indexes' inner pages and the leaves that are hot.
constexpr char kCache[] = "PRAGMA cache_size = -65536";
// Pages of the log before they are moved into the database: rare enough that a page that changes often is moved once.
constexpr char kCheckpoint[] = "PRAGMA wal_autocheckpoint = 8192";

bool IsOwn(const Error& error) {
  return error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kNotFound;
}

Error AlreadyStored(const RequestKey& key, std::string_view as) {
  return Error(ErrorCode::kInvalidArgument, "request: request '" + key.request_id + "' of client '" + key.client +
                                                "' is already stored, as a " + std::string(as));
}

// An error that came after something was written may not pass as the write's own.
Error EndsTransaction(const Error& error) {
  return IsOwn(error) ? Error(ErrorCode::kInternal, error.message()) : error;
}

}  // namespace

Result<WriteConnection> WriteConnection::Open(const StoreOptions& options) {
  TOUCHSTONE_ASSIGN(StoreFolder folder, StoreFolder::Claim(options.folder));
  TOUCHSTONE_RETURN_IF_ERROR(folder.CheckFree(options.min_free_bytes));
  TOUCHSTONE_ASSIGN(Database opened, Database::Open(folder.database(), Database::Mode::kWrite));
  // Statements point to their connection, which therefore stays where it is.
  auto database = std::make_unique<Database>(std::move(opened));
  TOUCHSTONE_RETURN_IF_ERROR(MakeOrCheckSchema(*database));
  TOUCHSTONE_RETURN_IF_ERROR(database->Execute(kCache));
  TOUCHSTONE_RETURN_IF_ERROR(database->Execute(kCheckpoint));
  TOUCHSTONE_ASSIGN(PayloadTable payloads, PayloadTable::Create(*database));
  TOUCHSTONE_ASSIGN(ResultTable results, ResultTable::Create(*database));
  TOUCHSTONE_ASSIGN(ItemTable items, ItemTable::Create(*database));
  TOUCHSTONE_ASSIGN(SessionTable sessions, SessionTable::Create(*database));
  TOUCHSTONE_ASSIGN(PendingTable pending, PendingTable::Create(*database));
  TOUCHSTONE_ASSIGN(Statement begin, database->Prepare("BEGIN IMMEDIATE"));
  TOUCHSTONE_ASSIGN(Statement commit, database->Prepare("COMMIT"));
  TOUCHSTONE_ASSIGN(const int64_t last, database->Int("SELECT max(sequence) FROM rollouts"));
  TOUCHSTONE_RETURN_IF_ERROR(folder.Pin());
  Tables tables{std::move(payloads), std::move(results), std::move(items), std::move(sessions),
                std::move(pending),  std::move(begin),   std::move(commit)};
  return WriteConnection(std::move(folder), std::move(database), std::move(tables), options.min_free_bytes,
                         static_cast<uint64_t>(last));
}

std::vector<Result<uint64_t>> WriteConnection::Commit(const std::vector<const Work*>& works) {
  std::vector<Result<uint64_t>> results;
  results.reserve(works.size());
  const Status status = works.empty() ? Status() : Try(works, results);
  if (status.ok()) return results;
  const ErrorCode code = status.error().code();
  if (works.size() > 1 && (code == ErrorCode::kCorrupt || code == ErrorCode::kInternal)) {
    // One of them met a damaged row. Each for itself, so that the others do not suffer.
    results.clear();
    for (const Work* work : works) results.push_back(Commit({work}).front());
    return results;
  }
  for (Result<uint64_t>& result : results) {
    if (result.ok() || !IsOwn(result.error())) result = status.error();
  }
  while (results.size() < works.size()) results.push_back(status.error());
  return results;
}

Status WriteConnection::Try(const std::vector<const Work*>& works, std::vector<Result<uint64_t>>& results) {
  RollBack();
  TOUCHSTONE_RETURN_IF_ERROR(folder_.CheckPinned());
  TOUCHSTONE_RETURN_IF_ERROR(folder_.CheckFree(min_free_bytes_));
  TOUCHSTONE_RETURN_IF_ERROR(tables_.begin.Run());
  for (const Work* work : works) {
    results.push_back((*work)(*this));
    if (results.back().ok() || IsOwn(results.back().error())) continue;
    RollBack();
    return results.back().error();
  }
  const Status status = tables_.commit.Run();
  if (!status.ok()) {
    RollBack();
    return status.error().Within("committing");
  }
  last_sequence_ = next_sequence_ - 1;
  // Were the files taken away meanwhile, what was committed lies in files that nobody will find again.
  return folder_.CheckPinned();
}

// Also where SQLite has rolled back by itself. Should it fail, the next transaction begins with it.
void WriteConnection::RollBack() {
  if (database_->in_transaction()) (void)database_->Execute("ROLLBACK");
  next_sequence_ = last_sequence_ + 1;
}

// The row comes first: it may be refused, and the payloads may not (an error of theirs ends the transaction), so that a
// refused write leaves nothing behind without a savepoint for each.
Result<uint64_t> WriteConnection::Append(const EncodedRollout& rollout) {
  const ItemRow& row = rollout.row;
  if (!row.summary.session.empty()) {
    TOUCHSTONE_ASSIGN(const bool known, tables_.sessions.Contains(row.summary.session));
    if (!known) return Error(ErrorCode::kInvalidArgument, "session: no session '" + row.summary.session + "'");
  }
  TOUCHSTONE_ASSIGN(const bool as_session, tables_.sessions.Contains(row.request));
  if (as_session) return AlreadyStored(row.request, "session");
  TOUCHSTONE_RETURN_IF_ERROR(tables_.items.Insert(row, rollout.checksum, next_sequence_));
  const auto put_rest = [&]() -> Status {
    TOUCHSTONE_RETURN_IF_ERROR(tables_.payloads.Put(rollout.response));
    TOUCHSTONE_RETURN_IF_ERROR(tables_.payloads.Put(rollout.source));
    TOUCHSTONE_RETURN_IF_ERROR(tables_.results.Put(next_sequence_, rollout.result));
    return tables_.pending.Remove(row.request);
  };
  const Status status = put_rest();
  if (!status.ok()) return EndsTransaction(status.error());
  return next_sequence_++;
}

Result<uint64_t> WriteConnection::OpenSession(const SessionRecord& session, const Payload& spec) {
  TOUCHSTONE_ASSIGN(const bool as_rollout, tables_.items.Contains(session.request));
  if (as_rollout) return AlreadyStored(session.request, "rollout");
  TOUCHSTONE_ASSIGN(const uint64_t sequence, tables_.sessions.Insert(session, spec.hash));
  Status status = tables_.payloads.Put(spec);
  if (status.ok()) status = tables_.pending.Remove(session.request);
  if (!status.ok()) return EndsTransaction(status.error());
  return sequence;
}

Result<uint64_t> WriteConnection::CloseSession(std::string_view id, UnixMicros when, std::string_view why) {
  return tables_.sessions.Close(id, when, why);
}

Result<uint64_t> WriteConnection::Accept(const PendingRecord& pending) {
  TOUCHSTONE_ASSIGN(const bool as_rollout, tables_.items.Contains(pending.request));
  if (as_rollout) return AlreadyStored(pending.request, "rollout");
  TOUCHSTONE_ASSIGN(const bool as_session, tables_.sessions.Contains(pending.request));
  if (as_session) return AlreadyStored(pending.request, "session");
  return tables_.pending.Insert(pending);
}

Result<uint64_t> WriteConnection::Forget(const RequestKey& key) {
  TOUCHSTONE_RETURN_IF_ERROR(tables_.pending.Remove(key));
  return uint64_t{0};
}

}  // namespace touchstone

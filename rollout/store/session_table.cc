#include "rollout/store/session_table.h"

#include "rollout/store/row_checksum.h"

namespace touchstone {
namespace {

constexpr char kInsert[] =
    "INSERT INTO sessions (id, client, request_id, opened, closed, why_closed, spec, checksum) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
constexpr char kSelect[] =
    "SELECT sequence, id, client, request_id, opened, closed, why_closed, spec, checksum FROM sessions ";

}  // namespace

Result<SessionTable> SessionTable::Create(Database& database) {
  const std::string select = kSelect;
  TOUCHSTONE_ASSIGN(Statement insert, database.Prepare(kInsert));
  TOUCHSTONE_ASSIGN(Statement close, database.Prepare("UPDATE sessions SET closed = ?, why_closed = ?, checksum = ? "
                                                      "WHERE sequence = ?"));
  TOUCHSTONE_ASSIGN(Statement contains, database.Prepare("SELECT 1 FROM sessions WHERE id = ?"));
  TOUCHSTONE_ASSIGN(Statement has_request,
                    database.Prepare("SELECT 1 FROM sessions WHERE request_id = ? AND client = ?"));
  TOUCHSTONE_ASSIGN(Statement by_id, database.Prepare(select + "WHERE id = ?"));
  TOUCHSTONE_ASSIGN(Statement by_request, database.Prepare(select + "WHERE request_id = ? AND client = ?"));
  TOUCHSTONE_ASSIGN(Statement open, database.Prepare(select + "WHERE closed = 0 ORDER BY sequence"));
  return SessionTable(std::move(insert), std::move(close), std::move(contains), std::move(has_request),
                      std::move(by_id), std::move(by_request), std::move(open));
}

int64_t SessionTable::Checksum(const SessionRecord& session, std::string_view spec) {
  RowChecksum checksum;
  checksum.Add(session.id).Add(session.request.client).Add(session.request.request_id);
  checksum.Add(int64_t{session.opened.count()}).Add(int64_t{session.closed.count()}).Add(session.why_closed).Add(spec);
  return checksum.Value();
}

Result<SessionTable::Row> SessionTable::ReadRow(const Statement& from) {
  Row row;
  row.sequence = static_cast<uint64_t>(from.Int(0));
  SessionRecord& session = row.session;
  session.id = from.Text(1);
  session.request = {from.Text(2), from.Text(3)};
  session.opened = UnixMicros(from.Int(4));
  session.closed = UnixMicros(from.Int(5));
  session.why_closed = from.Text(6);
  row.spec = from.Text(7);
  if (from.Int(8) != Checksum(session, row.spec)) {
    return Error(ErrorCode::kCorrupt, "session '" + session.id + "': the row is not what was written");
  }
  return row;
}

Result<uint64_t> SessionTable::Insert(const SessionRecord& session, std::string_view spec) {
  insert_.Bind(1, session.id)
      .Bind(2, session.request.client)
      .Bind(3, session.request.request_id)
      .Bind(4, int64_t{session.opened.count()})
      .Bind(5, int64_t{session.closed.count()})
      .Bind(6, session.why_closed)
      .BindBlob(7, spec)
      .Bind(8, Checksum(session, spec));
  const Status status = insert_.Run();
  if (status.ok()) return static_cast<uint64_t>(insert_.last_row());
  if (status.error().code() != ErrorCode::kInvalidArgument) return status.error();
  const bool request = status.error().message().find("sessions.request_id") != std::string::npos;
  return Error(ErrorCode::kInvalidArgument, request ? "request: a session of client '" + session.request.client +
                                                          "' and request '" + session.request.request_id +
                                                          "' is already stored"
                                                    : "id: session '" + session.id + "' is already stored");
}

Result<uint64_t> SessionTable::Close(std::string_view id, UnixMicros when, std::string_view why) {
  Row row;
  {
    const StatementScope scope(by_id_);
    TOUCHSTONE_ASSIGN(const bool found, by_id_.Bind(1, id).Step());
    if (!found) return Error(ErrorCode::kNotFound, "id: no session '" + std::string(id) + "'");
    TOUCHSTONE_ASSIGN(row, ReadRow(by_id_));
  }
  if (row.session.closed != UnixMicros(0)) {
    return Error(ErrorCode::kInvalidArgument, "id: session '" + row.session.id + "' is closed already");
  }
  row.session.closed = when;
  row.session.why_closed = why;
  close_.Bind(1, int64_t{when.count()})
      .Bind(2, why)
      .Bind(3, Checksum(row.session, row.spec))
      .Bind(4, static_cast<int64_t>(row.sequence));
  TOUCHSTONE_RETURN_IF_ERROR(close_.Run());
  return row.sequence;
}

Result<bool> SessionTable::Contains(std::string_view id) {
  const StatementScope scope(contains_);
  return contains_.Bind(1, id).Step();
}

Result<bool> SessionTable::Contains(const RequestKey& key) {
  const StatementScope scope(has_request_);
  return has_request_.Bind(1, key.request_id).Bind(2, key.client).Step();
}

Result<std::optional<SessionRecord>> SessionTable::One(Statement& from, PayloadTable& payloads) {
  TOUCHSTONE_ASSIGN(const bool found, from.Step());
  if (!found) return std::optional<SessionRecord>();
  TOUCHSTONE_ASSIGN(Row row, ReadRow(from));
  auto spec = payloads.Get(row.spec);
  if (!spec.ok()) return spec.error().Within("session '" + row.session.id + "': spec");
  row.session.spec = std::move(spec).value();
  return std::optional<SessionRecord>(std::move(row.session));
}

Result<std::optional<SessionRecord>> SessionTable::FindById(std::string_view id, PayloadTable& payloads) {
  const StatementScope scope(by_id_);
  return One(by_id_.Bind(1, id), payloads);
}

Result<std::optional<SessionRecord>> SessionTable::FindByRequest(const RequestKey& key, PayloadTable& payloads) {
  const StatementScope scope(by_request_);
  return One(by_request_.Bind(1, key.request_id).Bind(2, key.client), payloads);
}

Result<std::vector<SessionRecord>> SessionTable::Open(PayloadTable& payloads) {
  const StatementScope scope(open_);
  std::vector<SessionRecord> sessions;
  for (;;) {
    TOUCHSTONE_ASSIGN(std::optional<SessionRecord> session, One(open_, payloads));
    if (!session) return sessions;
    sessions.push_back(std::move(*session));
  }
}

}  // namespace touchstone

#include "rollout/store/item.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rollout/store/row_checksum.h"

namespace touchstone {
namespace {

// In the order of Insert() and ReadRow().
#define TOUCHSTONE_ITEM_COLUMNS                                                                                  \
  "sequence, id, client, request_id, time, session, turn, task, group_id, parent, exemplars, policy_version, "   \
  "prompt_hash, response, source, result, code_begin, code_end, status, speedup, score, reward_preset, reward, " \
  "reward_increment, best_speedup, terminated, truncated, checksum"
constexpr char kSelect[] = "SELECT " TOUCHSTONE_ITEM_COLUMNS " FROM rollouts ";
constexpr char kInsert[] = "INSERT INTO rollouts (" TOUCHSTONE_ITEM_COLUMNS
                           ") VALUES "
                           "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, "
                           "?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)";

Error Corrupt(const ItemRow& row, std::string_view what) {
  return Error(ErrorCode::kCorrupt,
               "rollout " + std::to_string(row.summary.sequence) + " ('" + row.summary.id + "'): " + std::string(what));
}

Result<ItemRow> ReadRow(const Statement& from) {
  ItemRow row;
  RolloutSummary& summary = row.summary;
  summary.sequence = static_cast<uint64_t>(from.Int(0));
  summary.id = from.Text(1);
  row.request = {from.Text(2), from.Text(3)};
  summary.time = UnixMicros(from.Int(4));
  summary.session = from.Text(5);
  summary.turn = static_cast<int>(from.Int(6));
  summary.task = from.Text(7);
  summary.group_id = from.Text(8);
  summary.parent = from.Text(9);
  row.exemplars = from.Text(10);
  summary.policy_version = from.Text(11);
  row.prompt_hash = from.Text(12);
  row.response = from.Text(13);
  row.source = from.Text(14);
  row.result = from.Text(15);
  row.code_begin = from.Int(16);
  row.code_end = from.Int(17);
  const std::optional<EvalStatus> status = EvalStatusFromString(from.View(18));
  summary.speedup = from.Real(19);
  summary.score = from.OptionalReal(20);
  summary.reward_preset = from.Text(21);
  summary.reward = from.OptionalReal(22);
  row.reward_increment = from.Real(23);
  row.best_speedup = from.Real(24);
  row.terminated = from.Int(25) != 0;
  row.truncated = from.Int(26) != 0;
  if (!status) return Corrupt(row, "status is none of the known ones");
  summary.status = *status;
  const auto expected = static_cast<uint64_t>(row.Checksum()) + summary.sequence;
  if (static_cast<uint64_t>(from.Int(27)) != expected) return Corrupt(row, "the row is not what was written");
  return row;
}

Result<std::optional<ItemRow>> OneRow(Statement& from) {
  TOUCHSTONE_ASSIGN(const bool found, from.Step());
  if (!found) return std::optional<ItemRow>();
  TOUCHSTONE_ASSIGN(ItemRow row, ReadRow(from));
  return std::optional<ItemRow>(std::move(row));
}

Result<std::vector<ItemRow>> AllRows(Statement& from) {
  std::vector<ItemRow> rows;
  for (;;) {
    TOUCHSTONE_ASSIGN(const bool found, from.Step());
    if (!found) return rows;
    TOUCHSTONE_ASSIGN(ItemRow row, ReadRow(from));
    rows.push_back(std::move(row));
  }
}

// SQLite names the columns of the index that refused the row.
Error Refused(const Error& error, const ItemRow& row) {
  if (error.code() != ErrorCode::kInvalidArgument) return error;
  const auto about = [&](std::string_view column) { return error.message().find(column) != std::string::npos; };
  if (about("rollouts.request_id")) {
    return Error(ErrorCode::kInvalidArgument, "request: a rollout of client '" + row.request.client +
                                                  "' and request '" + row.request.request_id + "' is already stored");
  }
  if (about("rollouts.turn")) {
    return Error(ErrorCode::kInvalidArgument, "turn: turn " + std::to_string(row.summary.turn) + " of session '" +
                                                  row.summary.session + "' is already stored");
  }
  if (about("rollouts.id")) {
    return Error(ErrorCode::kInvalidArgument, "id: rollout '" + row.summary.id + "' is already stored");
  }
  return error;
}

}  // namespace

int64_t ItemRow::Checksum() const {
  RowChecksum checksum;
  checksum.Add(summary.id).Add(request.client).Add(request.request_id).Add(int64_t{summary.time.count()});
  checksum.Add(summary.session).Add(int64_t{summary.turn}).Add(summary.task).Add(summary.group_id);
  checksum.Add(summary.parent).Add(exemplars).Add(summary.policy_version).Add(prompt_hash);
  checksum.Add(response).Add(source).Add(result).Add(code_begin).Add(code_end);
  checksum.Add(ToString(summary.status)).Add(summary.speedup);
  checksum.Add(int64_t{summary.score.has_value()}).Add(summary.score.value_or(0));
  checksum.Add(summary.reward_preset).Add(int64_t{summary.reward.has_value()}).Add(summary.reward.value_or(0));
  checksum.Add(reward_increment).Add(best_speedup).Add(int64_t{terminated}).Add(int64_t{truncated});
  return checksum.Value();
}

Result<ItemTable> ItemTable::Create(Database& database) {
  const std::string select = kSelect;
  TOUCHSTONE_ASSIGN(Statement insert, database.Prepare(kInsert));
  TOUCHSTONE_ASSIGN(Statement by_id, database.Prepare(select + "WHERE id = ?"));
  TOUCHSTONE_ASSIGN(Statement by_sequence, database.Prepare(select + "WHERE sequence = ?"));
  TOUCHSTONE_ASSIGN(Statement by_request, database.Prepare(select + "WHERE request_id = ? AND client = ?"));
  TOUCHSTONE_ASSIGN(Statement contains, database.Prepare("SELECT 1 FROM rollouts WHERE request_id = ? AND client = ?"));
  TOUCHSTONE_ASSIGN(Statement of_session,
                    database.Prepare(select + "WHERE session = ? AND session <> '' ORDER BY turn"));
  TOUCHSTONE_ASSIGN(Statement scored,
                    database.Prepare("SELECT sequence, task, group_id, score, source FROM rollouts WHERE sequence > ? "
                                     "AND sequence <= ? AND score IS NOT NULL AND length(source) > 0 "
                                     "ORDER BY sequence"));
  return ItemTable(database, std::move(insert), std::move(by_id), std::move(by_sequence), std::move(by_request),
                   std::move(contains), std::move(of_session), std::move(scored));
}

Status ItemTable::Insert(const ItemRow& row, int64_t checksum, uint64_t sequence) {
  const RolloutSummary& summary = row.summary;
  const auto sealed = static_cast<int64_t>(static_cast<uint64_t>(checksum) + sequence);
  insert_.Bind(1, static_cast<int64_t>(sequence))
      .Bind(2, summary.id)
      .Bind(3, row.request.client)
      .Bind(4, row.request.request_id)
      .Bind(5, int64_t{summary.time.count()})
      .Bind(6, summary.session)
      .Bind(7, int64_t{summary.turn})
      .Bind(8, summary.task)
      .Bind(9, summary.group_id)
      .Bind(10, summary.parent)
      .Bind(11, row.exemplars)
      .Bind(12, summary.policy_version)
      .Bind(13, row.prompt_hash)
      .BindBlob(14, row.response)
      .BindBlob(15, row.source)
      .BindBlob(16, row.result)
      .Bind(17, row.code_begin)
      .Bind(18, row.code_end)
      .Bind(19, ToString(summary.status))
      .Bind(20, summary.speedup)
      .Bind(21, summary.score)
      .Bind(22, summary.reward_preset)
      .Bind(23, summary.reward)
      .Bind(24, row.reward_increment)
      .Bind(25, row.best_speedup)
      .Bind(26, int64_t{row.terminated})
      .Bind(27, int64_t{row.truncated})
      .Bind(28, sealed);
  const Status status = insert_.Run();
  if (!status.ok()) return Refused(status.error(), row);
  return {};
}

Result<std::optional<ItemRow>> ItemTable::FindById(std::string_view id) {
  const StatementScope scope(by_id_);
  return OneRow(by_id_.Bind(1, id));
}

Result<std::optional<ItemRow>> ItemTable::FindBySequence(uint64_t sequence) {
  const StatementScope scope(by_sequence_);
  return OneRow(by_sequence_.Bind(1, static_cast<int64_t>(sequence)));
}

Result<std::optional<ItemRow>> ItemTable::FindByRequest(const RequestKey& key) {
  const StatementScope scope(by_request_);
  return OneRow(by_request_.Bind(1, key.request_id).Bind(2, key.client));
}

Result<bool> ItemTable::Contains(const RequestKey& key) {
  const StatementScope scope(contains_);
  return contains_.Bind(1, key.request_id).Bind(2, key.client).Step();
}

Result<std::vector<ItemRow>> ItemTable::OfSession(std::string_view session) {
  const StatementScope scope(of_session_);
  return AllRows(of_session_.Bind(1, session));
}

Result<std::vector<ScoredRollout>> ItemTable::Scored(uint64_t after, uint64_t upto) {
  const StatementScope scope(scored_);
  scored_.Bind(1, static_cast<int64_t>(after)).Bind(2, static_cast<int64_t>(upto));
  std::vector<ScoredRollout> rows;
  for (;;) {
    TOUCHSTONE_ASSIGN(const bool found, scored_.Step());
    if (!found) return rows;
    ScoredRollout& row = rows.emplace_back();
    row.sequence = static_cast<uint64_t>(scored_.Int(0));
    row.task = scored_.Text(1);
    row.group_id = scored_.Text(2);
    row.score = scored_.Real(3);
    const std::string_view hash = scored_.View(4);
    std::memcpy(&row.source, hash.data(), std::min(hash.size(), sizeof(row.source)));
  }
}

Result<std::vector<ItemRow>> ItemTable::List(const RolloutFilter& filter) {
  // Numbered, so that the clauses that are left out need no renumbering; `<> ''` opens the partial indexes.
  std::string sql = std::string(kSelect) + "WHERE sequence > ?1";
  if (!filter.task.empty()) sql += " AND task = ?2";
  if (!filter.group_id.empty()) sql += " AND group_id = ?3 AND group_id <> ''";
  if (!filter.session.empty()) sql += " AND session = ?4 AND session <> ''";
  if (!filter.policy_version.empty()) sql += " AND policy_version = ?5";
  if (filter.status) sql += " AND status = ?6";
  if (filter.eligible_only) sql += " AND score IS NOT NULL";
  sql += " ORDER BY sequence LIMIT ?7";
  TOUCHSTONE_ASSIGN(Statement select, database_->Prepare(sql));
  constexpr auto kMost = static_cast<uint64_t>(INT64_MAX);
  select.Bind(1, static_cast<int64_t>(std::min(filter.after, kMost)));
  select.Bind(2, filter.task).Bind(3, filter.group_id).Bind(4, filter.session).Bind(5, filter.policy_version);
  if (filter.status) select.Bind(6, ToString(*filter.status));
  select.Bind(7, static_cast<int64_t>(std::min(filter.limit, kMost)));
  return AllRows(select);
}

}  // namespace touchstone

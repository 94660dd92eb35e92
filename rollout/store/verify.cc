#include "rollout/store/verify.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace touchstone {
namespace {

constexpr uint64_t kRowsAtOnce = 1000;

std::string Hex(std::string_view bytes) {
  Digest digest{};
  for (size_t i = 0; i < digest.size() && i < bytes.size(); ++i) digest[i] = static_cast<uint8_t>(bytes[i]);
  return ToHex(digest);
}

// The pages, and that each index has the rows of its table.
Status CheckPages(Database& database) {
  TOUCHSTONE_ASSIGN(Statement check, database.Prepare("PRAGMA integrity_check(1)"));
  TOUCHSTONE_ASSIGN(const bool row, check.Step());
  if (row && check.View(0) == "ok") return {};
  return Error(ErrorCode::kCorrupt, "pages: " + (row ? check.Text(0) : std::string("no answer")));
}

Result<uint64_t> CheckRollouts(Reader& reader) {
  RolloutFilter filter;
  filter.limit = kRowsAtOnce;
  uint64_t count = 0;
  for (;;) {
    TOUCHSTONE_ASSIGN(std::vector<ItemRow> rows, reader.items().List(filter));
    if (rows.empty()) return count;
    for (ItemRow& row : rows) {
      filter.after = row.summary.sequence;
      ++count;
      const std::string name = "rollout " + std::to_string(filter.after) + " ('" + row.summary.id + "')";
      if (filter.after != count) {
        return Error(ErrorCode::kCorrupt, "rollout " + std::to_string(count) + " is missing before " + name);
      }
      if (!row.summary.session.empty()) {
        TOUCHSTONE_ASSIGN(const bool known, reader.sessions().Contains(row.summary.session));
        if (!known) {
          return Error(ErrorCode::kCorrupt, name + ": session '" + row.summary.session + "' is missing");
        }
      }
      const RolloutSummary summary = row.summary;
      TOUCHSTONE_ASSIGN(const RolloutRecord record, reader.Complete(std::move(row)));
      if (record.score() != summary.score || record.result.status != summary.status) {
        return Error(ErrorCode::kCorrupt, name + ": status or score is not that of its result");
      }
    }
  }
}

// Each text, also those that no row needs.
Result<uint64_t> CheckPayloads(Database& database) {
  TOUCHSTONE_ASSIGN(Statement select, database.Prepare("SELECT hash, codec, size, bytes FROM payloads ORDER BY rowid"));
  for (uint64_t count = 0;; ++count) {
    TOUCHSTONE_ASSIGN(const bool row, select.Step());
    if (!row) return count;
    const auto text = DecodePayload(select.View(0), static_cast<format::Codec>(select.Int(1)),
                                    static_cast<size_t>(select.Int(2)), select.View(3));
    if (!text.ok()) return text.error().Within("payload " + Hex(select.View(0)));
  }
}

Result<uint64_t> CheckSessions(Reader& reader) {
  TOUCHSTONE_ASSIGN(Statement select, reader.database().Prepare("SELECT id FROM sessions ORDER BY sequence"));
  for (uint64_t count = 0;; ++count) {
    TOUCHSTONE_ASSIGN(const bool row, select.Step());
    if (!row) return count;
    TOUCHSTONE_ASSIGN(const auto session, reader.sessions().FindById(select.View(0), reader.payloads()));
    if (!session) return Error(ErrorCode::kCorrupt, "session '" + select.Text(0) + "' is not in its index");
  }
}

Result<std::string> Check(Reader& reader) {
  TOUCHSTONE_RETURN_IF_ERROR(CheckPages(reader.database()));
  TOUCHSTONE_ASSIGN(const uint64_t sessions, CheckSessions(reader));
  TOUCHSTONE_ASSIGN(const uint64_t rollouts, CheckRollouts(reader));
  TOUCHSTONE_ASSIGN(const uint64_t payloads, CheckPayloads(reader.database()));
  TOUCHSTONE_ASSIGN(const std::vector<PendingRecord> pending, reader.pending().All());
  return std::to_string(rollouts) + " rollouts, " + std::to_string(sessions) + " sessions, " +
         std::to_string(payloads) + " texts, " + std::to_string(pending.size()) +
         " pending requests: every checksum, count and reference is right";
}

}  // namespace

Result<std::string> VerifyStore(Reader& reader) {
  // One transaction: a writer beside us changes nothing of what we see.
  TOUCHSTONE_RETURN_IF_ERROR(reader.database().Execute("BEGIN"));
  auto found = Check(reader);
  (void)reader.database().Execute("COMMIT");
  return found;
}

}  // namespace touchstone

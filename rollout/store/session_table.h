// The rows of sessions, through one connection.
#ifndef TOUCHSTONE_ROLLOUT_STORE_SESSION_TABLE_H_
#define TOUCHSTONE_ROLLOUT_STORE_SESSION_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rollout/record.h"
#include "rollout/store/payload.h"
#include "rollout/store/sqlite.h"

namespace touchstone {

class SessionTable {
 public:
  static Result<SessionTable> Create(Database& database);

  // `spec` is the payload of the session's spec, which the caller puts in its place. kInvalidArgument: the id or the
  // request is there already; nothing was written then. The value is the sequence of the row.
  Result<uint64_t> Insert(const SessionRecord& session, std::string_view spec);
  // kNotFound; kInvalidArgument: closed already.
  Result<uint64_t> Close(std::string_view id, UnixMicros when, std::string_view why);
  Result<bool> Contains(std::string_view id);
  Result<bool> Contains(const RequestKey& key);

  // kCorrupt where the row or its spec is not what was written.
  Result<std::optional<SessionRecord>> FindById(std::string_view id, PayloadTable& payloads);
  Result<std::optional<SessionRecord>> FindByRequest(const RequestKey& key, PayloadTable& payloads);
  Result<std::vector<SessionRecord>> Open(PayloadTable& payloads);

 private:
  struct Row {
    uint64_t sequence = 0;
    SessionRecord session;
    std::string spec;  // hash
  };
  SessionTable(Statement insert, Statement close, Statement contains, Statement has_request, Statement by_id,
               Statement by_request, Statement open)
      : insert_(std::move(insert)),
        close_(std::move(close)),
        contains_(std::move(contains)),
        has_request_(std::move(has_request)),
        by_id_(std::move(by_id)),
        by_request_(std::move(by_request)),
        open_(std::move(open)) {}
  static int64_t Checksum(const SessionRecord& session, std::string_view spec);
  static Result<Row> ReadRow(const Statement& from);
  static Result<std::optional<SessionRecord>> One(Statement& from, PayloadTable& payloads);

  Statement insert_;
  Statement close_;
  Statement contains_;
  Statement has_request_;
  Statement by_id_;
  Statement by_request_;
  Statement open_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_SESSION_TABLE_H_

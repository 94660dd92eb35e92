#include "rollout/store/schema.h"

#include <string>

#include "rollout/format.h"

namespace touchstone {
namespace {

Result<bool> IsEmpty(Database& database) {
  TOUCHSTONE_ASSIGN(const int64_t application, database.Int("PRAGMA application_id"));
  TOUCHSTONE_ASSIGN(const int64_t objects, database.Int("SELECT count(*) FROM sqlite_schema"));
  return application == 0 && objects == 0;
}

Status SetDurability(Database& database) {
  {
    TOUCHSTONE_ASSIGN(Statement mode, database.Prepare("PRAGMA journal_mode = WAL"));
    TOUCHSTONE_ASSIGN(const bool row, mode.Step());
    if (!row || mode.View(0) != "wal") {
      return Error(ErrorCode::kUnavailable, "the file system cannot hold a write-ahead log");
    }
  }
  return database.Execute("PRAGMA synchronous = FULL");
}

}  // namespace

Status MakeOrCheckSchema(Database& database) {
  TOUCHSTONE_ASSIGN(const bool empty, IsEmpty(database));
  if (!empty) {
    TOUCHSTONE_RETURN_IF_ERROR(CheckSchema(database));
    return SetDurability(database);
  }
  TOUCHSTONE_RETURN_IF_ERROR(database.Execute("PRAGMA page_size = " + std::to_string(format::kPageBytes)));
  TOUCHSTONE_RETURN_IF_ERROR(SetDurability(database));
  return database.Execute("BEGIN IMMEDIATE; " + std::string(format::kSchema) +
                          "PRAGMA application_id = " + std::to_string(format::kApplicationId) +
                          "; PRAGMA user_version = " + std::to_string(format::kSchemaVersion) + "; COMMIT");
}

Status CheckSchema(Database& database) {
  TOUCHSTONE_ASSIGN(const int64_t application, database.Int("PRAGMA application_id"));
  if (application != format::kApplicationId) return Error(ErrorCode::kCorrupt, "not a rollout store");
  TOUCHSTONE_ASSIGN(const int64_t version, database.Int("PRAGMA user_version"));
  if (version != format::kSchemaVersion) {
    return Error(ErrorCode::kCorrupt, "schema version " + std::to_string(version) + ", this program knows version " +
                                          std::to_string(format::kSchemaVersion));
  }
  return {};
}

}  // namespace touchstone

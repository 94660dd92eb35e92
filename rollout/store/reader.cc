#include "rollout/store/reader.h"

#include <unistd.h>

#include "rollout/store/record_codec.h"
#include "rollout/store/schema.h"
#include "rollout/store/store_folder.h"

namespace touchstone {
namespace {

// Readers of a database with a write-ahead log share memory through a file beside it. Where nobody can make that file
// there is no writer either, and the database alone is the store.
Database::Mode ModeFor(const std::string& folder) {
  const bool log = ::access((DatabasePath(folder) + "-wal").c_str(), F_OK) == 0;
  const bool writable = ::access(folder.c_str(), W_OK) == 0;
  return log || writable ? Database::Mode::kRead : Database::Mode::kImmutable;
}

}  // namespace

Result<std::unique_ptr<Reader>> Reader::Open(const std::string& folder) {
  if (::access(DatabasePath(folder).c_str(), F_OK) != 0) return Error(ErrorCode::kNotFound, "there is no store");
  TOUCHSTONE_ASSIGN(Database opened, Database::Open(DatabasePath(folder), ModeFor(folder)));
  auto database = std::make_unique<Database>(std::move(opened));
  TOUCHSTONE_RETURN_IF_ERROR(CheckSchema(*database));
  TOUCHSTONE_ASSIGN(PayloadTable payloads, PayloadTable::Create(*database));
  TOUCHSTONE_ASSIGN(ResultTable results, ResultTable::Create(*database));
  TOUCHSTONE_ASSIGN(ItemTable items, ItemTable::Create(*database));
  TOUCHSTONE_ASSIGN(SessionTable sessions, SessionTable::Create(*database));
  TOUCHSTONE_ASSIGN(PendingTable pending, PendingTable::Create(*database));
  return std::unique_ptr<Reader>(new Reader(std::move(database), std::move(payloads), std::move(results),
                                            std::move(items), std::move(sessions), std::move(pending)));
}

Result<RolloutRecord> Reader::Complete(ItemRow row) {
  const std::string name = "rollout " + std::to_string(row.summary.sequence) + " ('" + row.summary.id + "')";
  auto response = payloads_.Get(row.response);
  if (!response.ok()) return response.error().Within(name + ": response");
  auto source = payloads_.Get(row.source);
  if (!source.ok()) return source.error().Within(name + ": source");
  const auto result = results_.Get(row.summary.sequence, row.result);
  if (!result.ok()) return result.error().Within(name + ": result");
  auto record = DecodeRollout(std::move(row), std::move(response).value(), std::move(source).value(), result.value());
  if (!record.ok()) return record.error().Within(name);
  return record;
}

Result<std::unique_ptr<Reader>> ReaderPool::Take() {
  {
    const MutexLock lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Reader> reader = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
  }
  return Reader::Open(folder_);
}

void ReaderPool::GiveBack(std::unique_ptr<Reader> reader) {
  const MutexLock lock(mutex_);
  if (idle_.size() < kKept) idle_.push_back(std::move(reader));
}

}  // namespace touchstone

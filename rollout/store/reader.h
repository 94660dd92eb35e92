// Connections that read, beside the one that writes.
#ifndef TOUCHSTONE_ROLLOUT_STORE_READER_H_
#define TOUCHSTONE_ROLLOUT_STORE_READER_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "rollout/record.h"
#include "rollout/store/item.h"
#include "rollout/store/payload.h"
#include "rollout/store/pending_table.h"
#include "rollout/store/session_table.h"
#include "rollout/store/sqlite.h"

namespace touchstone {

// One thread at a time. Sees what is committed at each call.
class Reader {
 public:
  static Result<std::unique_ptr<Reader>> Open(const std::string& folder);

  Database& database() { return *database_; }
  PayloadTable& payloads() { return payloads_; }
  ResultTable& results() { return results_; }
  ItemTable& items() { return items_; }
  SessionTable& sessions() { return sessions_; }
  PendingTable& pending() { return pending_; }

  // With its texts. kCorrupt names the row and the text.
  Result<RolloutRecord> Complete(ItemRow row);

 private:
  Reader(std::unique_ptr<Database> database, PayloadTable payloads, ResultTable results, ItemTable items,
         SessionTable sessions, PendingTable pending)
      : database_(std::move(database)),
        payloads_(std::move(payloads)),
        results_(std::move(results)),
        items_(std::move(items)),
        sessions_(std::move(sessions)),
        pending_(std::move(pending)) {}
  std::unique_ptr<Database> database_;
  PayloadTable payloads_;
  ResultTable results_;
  ItemTable items_;
  SessionTable sessions_;
  PendingTable pending_;
};

// As many readers as threads read at once; a few of them are kept. Thread-safe.
class ReaderPool {
 public:
  explicit ReaderPool(std::string folder) : folder_(std::move(folder)) {}

  // Calls `body(Reader&)` with a reader of its own, whose result it returns.
  template <typename Body>
  auto With(Body body) -> decltype(body(std::declval<Reader&>())) {
    TOUCHSTONE_ASSIGN(std::unique_ptr<Reader> reader, Take());
    auto result = body(*reader);
    GiveBack(std::move(reader));
    return result;
  }

 private:
  static constexpr size_t kKept = 8;
  Result<std::unique_ptr<Reader>> Take();
  void GiveBack(std::unique_ptr<Reader> reader);

  const std::string folder_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Reader>> idle_ TOUCHSTONE_GUARDED_BY(mutex_);
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_READER_H_

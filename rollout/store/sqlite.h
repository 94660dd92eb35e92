// SQLite as values: a connection and its prepared statements. Not thread-safe; one thread at a time per connection.
#ifndef TOUCHSTONE_ROLLOUT_STORE_SQLITE_H_
#define TOUCHSTONE_ROLLOUT_STORE_SQLITE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace touchstone {

// One prepared statement. Parameters count from 1, columns from 0, as in SQLite. Texts may hold any bytes.
class Statement {
 public:
  Statement& Bind(int parameter, int64_t value);
  Statement& Bind(int parameter, double value);
  Statement& Bind(int parameter, std::optional<double> value);
  // Not copied: the bytes must stay until the next Reset().
  Statement& Bind(int parameter, std::string_view text);
  Statement& BindBlob(int parameter, std::string_view bytes);

  // True: there is a row. Errors: kInvalidArgument (a constraint), kExhausted (disk, memory), kUnavailable (the disk
  // refuses, locked), kCorrupt, kInternal.
  Result<bool> Step();
  // Makes it ready for new values. Views and bindings end here.
  void Reset();
  // Steps a statement that gives no rows, then resets it.
  Status Run();
  int64_t last_row() const;  // that its connection inserted

  int64_t Int(int column) const;
  double Real(int column) const;
  std::optional<double> OptionalReal(int column) const;
  // Until the next Step() or Reset().
  std::string_view View(int column) const;
  std::string Text(int column) const { return std::string(View(column)); }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Resets a statement at the end of the scope, so that no read transaction stays open behind an early return.
class StatementScope {
 public:
  explicit StatementScope(Statement& statement) : statement_(statement) {}
  ~StatementScope() { statement_.Reset(); }
  StatementScope(const StatementScope&) = delete;
  StatementScope& operator=(const StatementScope&) = delete;

 private:
  Statement& statement_;
};

class Database {
 public:
  enum class Mode {
    kWrite,      // made where it is not there
    kRead,       // beside a writer
    kImmutable,  // on a disk that nobody can write to
  };
  static Result<Database> Open(const std::string& path, Mode mode);

  // Statements must end before their database.
  Result<Statement> Prepare(std::string_view sql);
  Status Execute(const std::string& sql);
  Result<int64_t> Int(std::string_view sql);  // first column of the first row; 0 without rows

  bool in_transaction() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database) : database_(database) {}

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_SQLITE_H_

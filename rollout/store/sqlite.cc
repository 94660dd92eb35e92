#include "rollout/store/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace touchstone {
namespace {

constexpr int kBusyTimeoutMs = 5000;

ErrorCode CodeOf(sqlite3* database) {
  const int system = sqlite3_system_errno(database);
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return ErrorCode::kExhausted;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return system == ENOSPC || system == EDQUOT ? ErrorCode::kExhausted : ErrorCode::kUnavailable;
    case SQLITE_READONLY:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
      return ErrorCode::kInvalidArgument;
    default:
      return ErrorCode::kInternal;
  }
}

Error LastError(sqlite3* database) {
  std::string message = sqlite3_errmsg(database);
  const int code = sqlite3_errcode(database) & 0xff;
  const int system = sqlite3_system_errno(database);
  if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && system != 0) {
    message += std::string(": ") + std::strerror(system);
  }
  return Error(CodeOf(database), message);
}

// Of a file: URI, whose special characters are escaped.
std::string Uri(const std::string& path, bool immutable) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += '%';
      uri += kHex[(static_cast<uint8_t>(c) >> 4) & 15];
      uri += kHex[static_cast<uint8_t>(c) & 15];
    } else {
      uri += c;
    }
  }
  return uri + (immutable ? "?immutable=1" : "");
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Statement& Statement::Bind(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
  return *this;
}

Statement& Statement::Bind(int parameter, double value) {
  sqlite3_bind_double(statement_.get(), parameter, value);
  return *this;
}

Statement& Statement::Bind(int parameter, std::optional<double> value) {
  if (value) return Bind(parameter, *value);
  sqlite3_bind_null(statement_.get(), parameter);
  return *this;
}

Statement& Statement::Bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.empty() ? "" : text.data();
  sqlite3_bind_text64(statement_.get(), parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::BindBlob(int parameter, std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  sqlite3_bind_blob64(statement_.get(), parameter, data, bytes.size(), SQLITE_STATIC);
  return *this;
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return LastError(database_);
}

void Statement::Reset() { sqlite3_reset(statement_.get()); }

Status Statement::Run() {
  auto row = Step();
  // The reset repeats the error of the step, which is already in hand.
  Reset();
  if (!row.ok()) return row.error();
  return {};
}

int64_t Statement::last_row() const { return sqlite3_last_insert_rowid(database_); }
int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::Real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::optional<double> Statement::OptionalReal(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return Real(column);
}

std::string_view Statement::View(int column) const {
  // The blob form: no conversion, and the size is of the same bytes.
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(data), size);
}

Result<Database> Database::Open(const std::string& path, Mode mode) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE;
  flags |= mode == Mode::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(Uri(path, mode == Mode::kImmutable).c_str(), &handle, flags, nullptr);
  if (handle == nullptr) return Error(ErrorCode::kExhausted, "opening " + path + ": out of memory");
  Database database(handle);
  if (code != SQLITE_OK) return LastError(handle).Within("opening " + path);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return database;
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                         &statement, nullptr) != SQLITE_OK) {
    const Error error = LastError(database_.get());
    // Our texts are right; what they do not fit is not our schema.
    const bool logic = (sqlite3_errcode(database_.get()) & 0xff) == SQLITE_ERROR;
    return logic ? Error(ErrorCode::kCorrupt, "the schema is damaged: " + error.message()) : error;
  }
  return Statement(database_.get(), statement);
}

Status Database::Execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return LastError(database_.get());
  }
  return {};
}

Result<int64_t> Database::Int(std::string_view sql) {
  TOUCHSTONE_ASSIGN(Statement statement, Prepare(sql));
  TOUCHSTONE_ASSIGN(const bool row, statement.Step());
  return row ? statement.Int(0) : int64_t{0};
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

}  // namespace touchstone

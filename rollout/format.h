// The constants of the store's format. docs/rollout-format.md explains them, and names each in the same order.
//
// Stores outlive programs: do not change existing values. What is new gets a new value and a new kSchemaVersion.
#ifndef TOUCHSTONE_ROLLOUT_FORMAT_H_
#define TOUCHSTONE_ROLLOUT_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace touchstone::format {

// Files of a store's folder. SQLite keeps "-wal" and "-shm" beside the database.
inline constexpr char kDatabaseFile[] = "rollouts.sqlite";
inline constexpr char kLockFile[] = "writer.lock";

// In the header of the database file.
inline constexpr int32_t kApplicationId = 0x54534E52;  // "TSNR"
inline constexpr int32_t kSchemaVersion = 1;
inline constexpr int kPageBytes = 4096;

// How the bytes of a payload are kept.
enum class Codec : int64_t {
  kPlain = 0,  // as they are
  kZstd = 1,   // one zstd frame with its content size and its checksum
};
inline constexpr size_t kHashBytes = 32;                       // BLAKE2b-256 of what was given to the store
inline constexpr size_t kMaxPayloadBytes = size_t{256} << 20;  // before compression
inline constexpr size_t kMaxNameBytes = 1024;                  // ids, tasks, clients, …
inline constexpr size_t kMaxExemplars = 1024;

static_assert(sizeof(kApplicationId) == 4 && sizeof(kSchemaVersion) == 4, "SQLite keeps 32 bits of each");

// Times are microseconds since 1970 UTC. Hashes are blobs of kHashBytes; an empty text has the empty blob and no
// payload. `checksum` is described in the document.
inline constexpr char kSchema[] = R"(
CREATE TABLE payloads (
  hash BLOB NOT NULL,
  codec INTEGER NOT NULL,
  size INTEGER NOT NULL,
  bytes BLOB NOT NULL
);
CREATE UNIQUE INDEX payloads_by_hash ON payloads (hash);

CREATE TABLE results (
  sequence INTEGER PRIMARY KEY,
  codec INTEGER NOT NULL,
  size INTEGER NOT NULL,
  bytes BLOB NOT NULL
);

CREATE TABLE sessions (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  client TEXT NOT NULL,
  request_id TEXT NOT NULL,
  opened INTEGER NOT NULL,
  closed INTEGER NOT NULL,
  why_closed TEXT NOT NULL,
  spec BLOB NOT NULL,
  checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX sessions_by_id ON sessions (id);
CREATE UNIQUE INDEX sessions_by_request ON sessions (request_id, client);
CREATE INDEX sessions_open ON sessions (sequence) WHERE closed = 0;

CREATE TABLE rollouts (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  client TEXT NOT NULL,
  request_id TEXT NOT NULL,
  time INTEGER NOT NULL,
  session TEXT NOT NULL,
  turn INTEGER NOT NULL,
  task TEXT NOT NULL,
  group_id TEXT NOT NULL,
  parent TEXT NOT NULL,
  exemplars TEXT NOT NULL,
  policy_version TEXT NOT NULL,
  prompt_hash TEXT NOT NULL,
  response BLOB NOT NULL,
  source BLOB NOT NULL,
  result BLOB NOT NULL,
  code_begin INTEGER NOT NULL,
  code_end INTEGER NOT NULL,
  status TEXT NOT NULL,
  speedup REAL NOT NULL,
  score REAL,
  reward_preset TEXT NOT NULL,
  reward REAL,
  reward_increment REAL NOT NULL,
  best_speedup REAL NOT NULL,
  terminated INTEGER NOT NULL,
  truncated INTEGER NOT NULL,
  checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX rollouts_by_id ON rollouts (id);
CREATE UNIQUE INDEX rollouts_by_request ON rollouts (request_id, client);
CREATE UNIQUE INDEX rollouts_by_turn ON rollouts (session, turn) WHERE session <> '';
CREATE INDEX rollouts_by_task ON rollouts (task);
CREATE INDEX rollouts_by_group ON rollouts (group_id) WHERE group_id <> '';

CREATE TABLE pending (
  client TEXT NOT NULL,
  request_id TEXT NOT NULL,
  accepted INTEGER NOT NULL,
  payload BLOB NOT NULL,
  checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX pending_by_request ON pending (request_id, client);
)";

}  // namespace touchstone::format

#endif  // TOUCHSTONE_ROLLOUT_FORMAT_H_

// What makes a database a store of ours.
#ifndef TOUCHSTONE_ROLLOUT_STORE_SCHEMA_H_
#define TOUCHSTONE_ROLLOUT_STORE_SCHEMA_H_

#include "base/result.h"
#include "rollout/store/sqlite.h"

namespace touchstone {

// For the writer: fills an empty database, and sets how commits become durable. Errors as CheckSchema;
// kUnavailable: the file system cannot hold a write-ahead log.
Status MakeOrCheckSchema(Database& database);

// kCorrupt: not a store, or of a version that this program does not know.
Status CheckSchema(Database& database);

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_SCHEMA_H_

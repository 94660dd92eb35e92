// Texts as they are kept: hashed, compressed, and by their hash or by the number of a row.
#ifndef TOUCHSTONE_ROLLOUT_STORE_PAYLOAD_H_
#define TOUCHSTONE_ROLLOUT_STORE_PAYLOAD_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "rollout/format.h"
#include "rollout/store/sqlite.h"

namespace touchstone {

// A text as it is kept. Of an empty text everything is empty, and nothing is stored.
struct Payload {
  std::string hash;  // format::kHashBytes raw bytes
  format::Codec codec = format::Codec::kPlain;
  size_t size = 0;  // of the text
  std::string bytes;
};

// Hashes and compresses, whatever is smaller. kInvalidArgument: `field` is larger than format::kMaxPayloadBytes.
Result<Payload> EncodePayload(std::string_view field, std::string_view text);
// kCorrupt: the bytes do not give a text of this size and hash.
Result<std::string> DecodePayload(std::string_view hash, format::Codec codec, size_t size, std::string_view bytes);

// Texts of which many are equal (sources, responses, specs), each stored once. Through one connection.
class PayloadTable {
 public:
  static Result<PayloadTable> Create(Database& database);

  // Does nothing where it is there already, or is empty.
  Status Put(const Payload& payload);
  // The empty text for an empty hash. kCorrupt: it is not there, or not what was written.
  Result<std::string> Get(std::string_view hash);
  Result<bool> Contains(std::string_view hash);

 private:
  PayloadTable(Statement put, Statement get, Statement contains)
      : put_(std::move(put)), get_(std::move(get)), contains_(std::move(contains)) {}
  Statement put_;
  Statement get_;
  Statement contains_;
};

// Texts of which no two are equal (results, with their ids and times), by the sequence of their rollout: an index of
// hashes would cost a page of the log for each and find nothing. Through one connection.
class ResultTable {
 public:
  static Result<ResultTable> Create(Database& database);

  Status Put(uint64_t sequence, const Payload& payload);
  // kCorrupt: it is not there, or not what was written.
  Result<std::string> Get(uint64_t sequence, std::string_view hash);

 private:
  ResultTable(Statement put, Statement get) : put_(std::move(put)), get_(std::move(get)) {}
  Statement put_;
  Statement get_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_PAYLOAD_H_

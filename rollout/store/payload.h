// Texts, each stored once by its hash.
#ifndef TOUCHSTONE_ROLLOUT_STORE_PAYLOAD_H_
#define TOUCHSTONE_ROLLOUT_STORE_PAYLOAD_H_

#include <string>
#include <string_view>

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

// The table of payloads, through one connection.
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

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_PAYLOAD_H_

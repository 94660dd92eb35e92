#ifndef TOUCHSTONE_ROLLOUT_STORE_ROW_CHECKSUM_H_
#define TOUCHSTONE_ROLLOUT_STORE_ROW_CHECKSUM_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace touchstone {

// The `checksum` column of a row (docs/rollout-format.md): the first eight bytes of BLAKE2b over the row's fields, each
// in front of its length. Against damage, not against somebody who can compute it again.
class RowChecksum {
 public:
  RowChecksum& Add(std::string_view bytes) {
    AddWord(bytes.size());
    fields_ += bytes;
    return *this;
  }
  RowChecksum& Add(int64_t value) { return AddWord(static_cast<uint64_t>(value)); }
  // SQLite does not keep the sign of zero.
  RowChecksum& Add(double value) { return AddWord(std::bit_cast<uint64_t>(value + 0.0)); }

  int64_t Value() const {
    const Digest digest = Hash(fields_);
    int64_t value = 0;
    for (int i = 7; i >= 0; --i) value = static_cast<int64_t>(static_cast<uint64_t>(value) << 8 | digest[i]);
    return value;
  }

 private:
  RowChecksum& AddWord(uint64_t word) {
    for (int i = 0; i < 8; ++i) fields_ += static_cast<char>(word >> (8 * i));
    return *this;
  }
  std::string fields_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_ROW_CHECKSUM_H_

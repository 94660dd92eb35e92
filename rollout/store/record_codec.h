// A rollout ↔ its row and its texts.
#ifndef TOUCHSTONE_ROLLOUT_STORE_RECORD_CODEC_H_
#define TOUCHSTONE_ROLLOUT_STORE_RECORD_CODEC_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "rollout/record.h"
#include "rollout/store/item.h"
#include "rollout/store/payload.h"

namespace touchstone {

struct EncodedRollout {
  ItemRow row;
  int64_t checksum = 0;  // of the row
  Payload response;
  Payload source;
  Payload result;
};

// Everything that costs time and needs no database, so that it happens on the caller's thread. kInvalidArgument names
// the field and the limit.
Result<EncodedRollout> EncodeRollout(const RolloutRecord& record);

// kCorrupt: the texts, though undamaged, are not those of a rollout.
Result<RolloutRecord> DecodeRollout(ItemRow row, std::string response, std::string source, std::string_view result);

enum class NameRule { kMayBeEmpty, kMustBe };
// kInvalidArgument: empty where it must be given, longer than format::kMaxNameBytes, or with a zero byte.
Status CheckName(std::string_view field, std::string_view name, NameRule rule);

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_RECORD_CODEC_H_

// Bytes ↔ the structs of env/messages.h and calls.h. Only this pair of files sees msgpack. docs/wire.md is the
// protocol.
#ifndef TOUCHSTONE_ENV_SERVE_WIRE_H_
#define TOUCHSTONE_ENV_SERVE_WIRE_H_

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "env/serve/calls.h"

namespace touchstone::wire {

struct Limits {
  size_t max_message_bytes = size_t{4} << 20;
  size_t max_source_bytes = size_t{1} << 20;  // of a source, a response, a baseline
};

// One request out of its three frames. Everything is checked: names, keys, types, sizes, ranges, depth; the error names
// field and limit.
std::variant<Call, CallError> DecodeRequest(std::string_view request_id, std::string_view method,
                                            std::string_view payload, const Limits& limits);
// Its payload. The method is MethodOf(call.request).
std::string EncodeRequest(const Call& call);

// T: ResetReply, StepReply, ScoreReply, ValidateReply, CallError, or a reply of calls.h. Text that is not UTF-8 goes
// out with replacement characters.
template <typename T>
std::string EncodeReply(const T& reply);
// kCorrupt names the field. Unknown keys are left aside: a later server may say more.
template <typename T>
Result<T> DecodeReply(std::string_view payload);

// Printable ASCII of 1 to kMaxIdBytes bytes: what request ids and clients' names are.
bool IsId(std::string_view text);

}  // namespace touchstone::wire

#endif  // TOUCHSTONE_ENV_SERVE_WIRE_H_

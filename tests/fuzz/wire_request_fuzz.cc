// A request may be any bytes: it becomes a call that keeps to all limits, or an error that says what is wrong.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>

#include "env/serve/wire.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view method = wire::kMethods[data[0] % std::size(wire::kMethods)];
  wire::Limits limits;
  limits.max_message_bytes = 8192;
  limits.max_source_bytes = 1024;
  const auto decoded = wire::DecodeRequest("id", method, bytes.substr(1), limits);
  if (const auto* error = std::get_if<wire::CallError>(&decoded)) {
    FUZZ_EXPECT(!error->code.empty() && !error->message.empty() && !error->field.empty());
    FUZZ_EXPECT(wire::DecodeReply<wire::CallError>(wire::EncodeReply(*error)).ok());
    return 0;
  }
  // What was understood can be said again, and means the same.
  const auto& call = std::get<wire::Call>(decoded);
  FUZZ_EXPECT(wire::MethodOf(call.request) == method);
  const std::string encoded = wire::EncodeRequest(call);
  wire::Limits wide = limits;
  wide.max_message_bytes = size_t{1} << 20;
  const auto again = wire::DecodeRequest("id", method, encoded, wide);
  FUZZ_EXPECT(std::holds_alternative<wire::Call>(again));
  FUZZ_EXPECT(wire::EncodeRequest(std::get<wire::Call>(again)) == encoded);
  return 0;
}

// A client must stand what a broken server sends.
#include <cstdint>
#include <string_view>

#include "env/serve/wire.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

namespace {

template <typename T>
void Try(std::string_view bytes) {
  const auto decoded = wire::DecodeReply<T>(bytes);
  if (!decoded.ok()) return;
  const std::string encoded = wire::EncodeReply(*decoded);
  const auto again = wire::DecodeReply<T>(encoded);
  FUZZ_EXPECT(again.ok() && wire::EncodeReply(*again) == encoded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      return Try<StepReply>(bytes), 0;
    case 1:
      return Try<ResetReply>(bytes), 0;
    case 2:
      return Try<wire::CollectReply>(bytes), 0;
    case 3:
      return Try<wire::DescribeReply>(bytes), 0;
    case 4:
      return Try<wire::HealthReply>(bytes), 0;
    default:
      return Try<wire::CallError>(bytes), 0;
  }
}

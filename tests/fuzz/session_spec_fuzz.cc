// What the store says of a session is either a spec that writes itself again, or an error that says where.
#include <cstdint>
#include <string_view>

#include "env/episode/session_spec.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto spec = SessionSpecFromJson({reinterpret_cast<const char*>(data), size});
  if (!spec.ok()) {
    FUZZ_EXPECT(!spec.error().message().empty());
    return 0;
  }
  const auto again = SessionSpecFromJson(ToJsonText(*spec));
  FUZZ_EXPECT(again.ok());
  FUZZ_EXPECT(*again == *spec);
  return 0;
}

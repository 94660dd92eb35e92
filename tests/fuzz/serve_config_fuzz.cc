// A configuration may be any text: it fills the options within their bounds, or the error names file and key.
#include <cstdint>
#include <string>

#include "env/serve/config.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string yaml(reinterpret_cast<const char*>(data), size);
  const auto config = ParseServeConfig(yaml, "f.yaml", {});
  if (!config.ok()) {
    FUZZ_EXPECT(config.error().message().rfind("f.yaml", 0) == 0);
    return 0;
  }
  FUZZ_EXPECT(config->server.max_in_flight >= 1 && config->slots.cores_per_slot >= 1);
  const auto slots = PlanSlots(config->slots, {0, 1, 2, 3});
  FUZZ_EXPECT(!slots.ok() || !slots->empty());
  return 0;
}

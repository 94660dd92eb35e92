// A method's file is either a method within its limits, or an error that says where.
#include <cstdint>
#include <string>

#include "env/episode/method.h"
#include "reward/presets/preset.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto method = ParseMethod(std::string(reinterpret_cast<const char*>(data), size), "fuzz", "fuzz.yaml");
  if (!method.ok()) {
    FUZZ_EXPECT(method.error().message().find("fuzz.yaml") != std::string::npos);
    return 0;
  }
  FUZZ_EXPECT(FindRewardPreset(method->reward).ok());
  FUZZ_EXPECT(IsFeedback(method->feedback));
  FUZZ_EXPECT(method->max_turns >= 1 && method->max_turns <= kMaxTurns);
  FUZZ_EXPECT(method->exemplars >= 0 && method->exemplars <= kMaxExemplars);
  FUZZ_EXPECT(!method->target_speedup || *method->target_speedup > 0);
  FUZZ_EXPECT(!method->budget || (method->budget->count() > 0 && *method->budget <= kMaxBudget));
  return 0;
}

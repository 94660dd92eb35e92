// A measurement profile may come from anybody: it is either one within all limits, or an error that says where.
#include <cstdint>

#include "reward/judge/profile.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto profile = ParseProfile(std::string(reinterpret_cast<const char*>(data), size), "fuzz", "fuzz.yaml");
  if (!profile.ok()) {
    FUZZ_EXPECT(profile.error().message().rfind("fuzz.yaml:", 0) == 0);
    return 0;
  }
  FUZZ_EXPECT(profile->trials >= 1 && profile->starts >= 1 && profile->min_rounds <= profile->max_rounds);
  FUZZ_EXPECT(profile->block_bytes >= uint64_t{1} << 20 && profile->window.count() > 0);
  // What is written is read as the same again.
  const std::string text = RenderProfile(*profile);
  const auto again = ParseProfile(text, "fuzz", "again.yaml");
  FUZZ_EXPECT(again.ok() && RenderProfile(*again) == text);
  return 0;
}

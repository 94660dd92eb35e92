// Every byte of an answer page may come from hostile code, and may be of any value when the judge copies it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "sandbox/runner/link.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  // The page is more than a megabyte: one buffer for all runs, filled from its start with what the fuzzer gives.
  static const auto page = std::make_unique<AnswerPage>();
  const size_t expected_places = data[0] * size_t{64};
  auto* const bytes = reinterpret_cast<uint8_t*>(page.get());
  std::fill_n(bytes, 4096, data[1]);
  std::copy_n(data + 2, std::min(size - 2, sizeof(AnswerPage)), bytes);

  const RunnerAnswer answer = CopyAnswer(*page, expected_places);
  FUZZ_EXPECT(answer.status <= RunnerStatus::kUnsupported);
  FUZZ_EXPECT(answer.message.size() <= sizeof(page->message));
  for (const char c : answer.message) FUZZ_EXPECT((c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t');
  FUZZ_EXPECT(answer.places.empty() || (answer.places.size() == expected_places && expected_places <= kMaxPlaces));
  return 0;
}

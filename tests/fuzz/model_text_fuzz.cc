// What a model writes: any bytes give a candidate within its limits, or a reason why there is none.
#include <cstdint>
#include <string>

#include "base/utf8.h"
#include "env/episode/code_block.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

namespace {

constexpr size_t kLimit = 1000;

void ExpectGood(const Submitted& taken) {
  FUZZ_EXPECT(taken.source.empty() != taken.why_format_error.empty());
  FUZZ_EXPECT(taken.source.size() <= kLimit && IsUtf8(taken.source));
  FUZZ_EXPECT(taken.source.find('\0') == std::string::npos);
  FUZZ_EXPECT(taken.code_length == static_cast<int64_t>(CountCharacters(taken.source)));
  FUZZ_EXPECT(IsUtf8(taken.why_format_error));
}

// The byte at which this code point begins.
size_t ByteOf(const std::string& text, int64_t character) {
  size_t byte = 0;
  for (; character > 0; --character) {
    ++byte;
    while (byte < text.size() && (static_cast<uint8_t>(text[byte]) & 0xc0) == 0x80) ++byte;
  }
  return byte;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Action action;
  action.response = text;
  const Submitted taken = TakeCandidate(action, "cpp", kLimit);
  ExpectGood(taken);
  FUZZ_EXPECT((taken.code_begin >= 0) == !taken.source.empty());
  if (!taken.source.empty()) {
    FUZZ_EXPECT(taken.code_end - taken.code_begin == taken.code_length);
    FUZZ_EXPECT(text.compare(ByteOf(text, taken.code_begin), taken.source.size(), taken.source) == 0);
  }
  action.response.clear();
  action.source = text;
  const Submitted source = TakeCandidate(action, "cpp", kLimit);
  ExpectGood(source);
  FUZZ_EXPECT(source.source.empty() || source.source == text);
  return 0;
}

#include "base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace touchstone {
namespace {

// What may follow a first byte: how many bytes, and the range of the first of them; the others are 80 … BF.
struct Form {
  int following;
  uint8_t low;
  uint8_t high;
};

Form FormOf(uint8_t first) {
  if (first >= 0xc2 && first <= 0xdf) return {1, 0x80, 0xbf};
  if (first == 0xe0) return {2, 0xa0, 0xbf};
  if (first == 0xed) return {2, 0x80, 0x9f};
  if (first >= 0xe1 && first <= 0xef) return {2, 0x80, 0xbf};
  if (first == 0xf0) return {3, 0x90, 0xbf};
  if (first >= 0xf1 && first <= 0xf3) return {3, 0x80, 0xbf};
  if (first == 0xf4) return {3, 0x80, 0x8f};
  return {0, 0, 0};
}

// Length of the character at the front of `text`, which is not empty; 0: it is none.
size_t Character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const Form form = FormOf(byte(0));
  const size_t length = 1 + static_cast<size_t>(form.following);
  if (form.following == 0 || length > text.size()) return 0;
  if (byte(1) < form.low || byte(1) > form.high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

}  // namespace

size_t Utf8Prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    // Eight ASCII characters at once: nearly all of a source.
    uint64_t eight = 0;
    if (text.size() - at >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + at, sizeof(eight));
      if ((eight & 0x8080808080808080) == 0) {
        at += sizeof(eight);
        continue;
      }
    }
    const size_t length = Character(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return at;
}

std::string ToUtf8(std::string_view text) {
  std::string utf8;
  utf8.reserve(text.size());
  while (true) {
    const size_t good = Utf8Prefix(text);
    utf8 += text.substr(0, good);
    if (good == text.size()) return utf8;
    utf8 += "\xef\xbf\xbd";
    text.remove_prefix(good + 1);
  }
}

size_t CountCharacters(std::string_view utf8) {
  return static_cast<size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

}  // namespace touchstone

#include "env/serve/utf8.h"

#include <cstdint>
#include <cstring>

namespace touchstone::wire {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080;

// Bytes of the well-formed character at the front; 0: there is none (RFC 3629: no overlong forms, no surrogates).
size_t CharacterAt(const unsigned char* at, size_t left) {
  if (at[0] < 0x80) return 1;
  const size_t length = at[0] >= 0xc2 && at[0] < 0xe0 ? 2 : at[0] >= 0xe0 && at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
  if (at[0] < 0xc2 || length == 0 || length > left) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
  const bool outside = (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf4 && at[1] >= 0x90);
  return overlong || outside ? 0 : length;
}

}  // namespace

size_t Utf8Prefix(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t at = 0;
  while (at < text.size()) {
    uint64_t word = 0;
    if (text.size() - at >= sizeof(word)) {
      std::memcpy(&word, bytes + at, sizeof(word));
      if ((word & kHighBits) == 0) {
        at += sizeof(word);
        continue;
      }
    }
    const size_t length = CharacterAt(bytes + at, text.size() - at);
    if (length == 0) return at;
    at += length;
  }
  return at;
}

std::string ToUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t good = Utf8Prefix(text);
    valid.append(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) break;
    valid.append("\xef\xbf\xbd");
    text.remove_prefix(1);
  }
  return valid;
}

}  // namespace touchstone::wire

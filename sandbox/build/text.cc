#include "sandbox/build/text.h"

#include <cstdint>

namespace touchstone {
namespace {

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// Length of the well-formed UTF-8 sequence of two to four bytes at the start of `bytes`, or 0.
size_t SequenceLength(std::string_view bytes) {
  const auto lead = static_cast<uint8_t>(bytes[0]);
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (length == 0 || bytes.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(bytes[i])) return 0;
  }
  const auto second = static_cast<uint8_t>(bytes[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool beyond = lead == 0xF4 && second >= 0x90;
  const bool control = lead == 0xC2 && second < 0xA0;  // U+0080 … U+009F
  return overlong || surrogate || beyond || control ? 0 : length;
}

}  // namespace

std::string CleanText(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto c = static_cast<uint8_t>(bytes[0]);
    size_t length = 1;
    if (c == '\n' || (c >= 0x20 && c < 0x7F)) {
      text += bytes[0];
    } else if (c == '\t') {
      text += ' ';
    } else if (c >= 0x80 && SequenceLength(bytes) != 0) {
      length = SequenceLength(bytes);
      text += bytes.substr(0, length);
    } else {
      text += '?';
    }
    bytes.remove_prefix(length);
  }
  return text;
}

std::string Shorten(std::string text, size_t max_bytes) {
  constexpr std::string_view kEllipsis = "…";
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes > kEllipsis.size() ? max_bytes - kEllipsis.size() : 0;
  while (end > 0 && IsContinuation(text[end])) --end;
  text.resize(end);
  if (max_bytes >= kEllipsis.size()) text += kEllipsis;
  return text;
}

}  // namespace touchstone

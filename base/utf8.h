#ifndef TOUCHSTONE_BASE_UTF8_H_
#define TOUCHSTONE_BASE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace touchstone {

// How many bytes from the front are well-formed UTF-8 (RFC 3629: nothing overlong, no surrogates).
size_t Utf8Prefix(std::string_view text);

inline bool IsUtf8(std::string_view text) { return Utf8Prefix(text) == text.size(); }

// The text with U+FFFD for every byte that is not part of well-formed UTF-8.
std::string ToUtf8(std::string_view text);

// Unicode code points of well-formed text.
size_t CountCharacters(std::string_view utf8);

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_UTF8_H_

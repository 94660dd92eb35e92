#ifndef TOUCHSTONE_ENV_SERVE_UTF8_H_
#define TOUCHSTONE_ENV_SERVE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace touchstone::wire {

// Bytes from the front that are well-formed UTF-8: all of them, or up to the first that is not.
size_t Utf8Prefix(std::string_view text);

inline bool IsUtf8(std::string_view text) { return Utf8Prefix(text) == text.size(); }

// The text with U+FFFD for every byte that is not part of well-formed UTF-8.
std::string ToUtf8(std::string_view text);

}  // namespace touchstone::wire

#endif  // TOUCHSTONE_ENV_SERVE_UTF8_H_

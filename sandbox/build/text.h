#ifndef TOUCHSTONE_SANDBOX_BUILD_TEXT_H_
#define TOUCHSTONE_SANDBOX_BUILD_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace touchstone {

// Valid UTF-8 without control characters but '\n'; a tab becomes a space, everything else that does not belong '?'.
std::string CleanText(std::string_view bytes);

// At most `max_bytes` of UTF-8 text, whole characters; what is cut shows as "…".
std::string Shorten(std::string text, size_t max_bytes);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BUILD_TEXT_H_

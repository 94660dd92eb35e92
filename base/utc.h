#ifndef TOUCHSTONE_BASE_UTC_H_
#define TOUCHSTONE_BASE_UTC_H_

#include <ctime>
#include <string>

namespace touchstone {

// "2026-01-31T23:59:59Z" (ISO 8601).
std::string UtcText(std::time_t time);
inline std::string UtcNow() { return UtcText(std::time(nullptr)); }

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_UTC_H_

#include "base/result.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace touchstone {

std::string_view ToString(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kDeadline:
      return "deadline";
    case ErrorCode::kExhausted:
      return "exhausted";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kInternal:
      return "internal";
    case ErrorCode::kClosed:
      return "closed";
    case ErrorCode::kConflict:
      return "conflict";
  }
  return "unknown";
}

std::string Error::ToString() const { return std::string(touchstone::ToString(code_)) + ": " + message_; }

Error Error::Within(std::string_view what) const { return Error(code_, std::string(what) + ": " + message_); }

Error ErrnoError(ErrorCode code, std::string_view what) {
  const int saved = errno;
  return Error(code, std::string(what) + ": " + std::strerror(saved));
}

void CheckFailed(const char* file, int line, const char* expression, std::string_view why) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s (%.*s)\n", file, line, expression, static_cast<int>(why.size()),
               why.data());
  std::abort();
}

}  // namespace touchstone

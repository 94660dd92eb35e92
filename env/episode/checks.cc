#include "env/episode/checks.h"

#include <algorithm>

#include "base/utf8.h"

namespace touchstone {
namespace {

constexpr size_t kMaxKeyBytes = 64;
constexpr int64_t kMaxPriority = 10;
constexpr int64_t kMaxDeadlineMs = int64_t{24} * 3600 * 1000;

Error Bad(std::string_view field, const std::string& what) {
  return {ErrorCode::kInvalidArgument, std::string(field) + ": " + what};
}

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= kMaxKeyBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

Status CheckKey(const RequestKey& key) {
  const std::string limit = "must be 1 … " + std::to_string(kMaxKeyBytes) + " bytes of printable ASCII";
  if (!IsName(key.client)) return Bad("client", limit);
  if (!IsName(key.request_id)) return Bad("request_id", limit);
  return {};
}

Status CheckText(std::string_view field, const std::string& text, size_t max_bytes) {
  if (text.size() > max_bytes) return Bad(field, "must be at most " + std::to_string(max_bytes) + " bytes");
  if (text.find('\0') != std::string::npos || !IsUtf8(text)) return Bad(field, "must be UTF-8 without NUL");
  return {};
}

Status CheckRange(std::string_view field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return {};
  return Bad(field, "must be " + std::to_string(low) + " … " + std::to_string(high) + ", not " + std::to_string(value));
}

Status CheckBaseline(const std::optional<std::string>& source, size_t max_bytes) {
  if (!source) return {};
  if (source->find_first_not_of(" \t\r\n") == std::string::npos) return Bad("baseline_source", "is empty");
  return CheckText("baseline_source", *source, max_bytes);
}

Status CheckAction(const Action& action) {
  if (action.source.empty() || action.response.empty()) return {};
  return Bad("source", "only one of source and response may be given");
}

Status CheckPacing(std::chrono::milliseconds deadline, int priority) {
  TOUCHSTONE_RETURN_IF_ERROR(CheckRange("deadline_ms", deadline.count(), 0, kMaxDeadlineMs));
  return CheckRange("priority", priority, -kMaxPriority, kMaxPriority);
}

}  // namespace touchstone

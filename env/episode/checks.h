// Checks of single fields of requests. Every error is kInvalidArgument and names field and limit.
#ifndef TOUCHSTONE_ENV_EPISODE_CHECKS_H_
#define TOUCHSTONE_ENV_EPISODE_CHECKS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/messages.h"

namespace touchstone {

// Both parts: 1 to 64 bytes of printable ASCII.
Status CheckKey(const RequestKey& key);
// UTF-8 without NUL, at most `max_bytes`; may be empty.
Status CheckText(std::string_view field, const std::string& text, size_t max_bytes);
Status CheckRange(std::string_view field, int64_t value, int64_t low, int64_t high);
Status CheckBaseline(const std::optional<std::string>& source, size_t max_bytes);
// Not both a source and a response. Neither is an empty response: what a model says is data.
Status CheckAction(const Action& action);
Status CheckPacing(std::chrono::milliseconds deadline, int priority);

inline constexpr size_t kMaxLabelBytes = 256;  // group ids, policy versions, hashes of prompts

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_CHECKS_H_

#ifndef TOUCHSTONE_ENV_EPISODE_SESSION_SPEC_H_
#define TOUCHSTONE_ENV_EPISODE_SESSION_SPEC_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace touchstone {

// A stored rollout that the first observation shows; its source is in the store.
struct ShownRollout {
  std::string rollout;
  double score = 0;
  double probability = 0;

  bool operator==(const ShownRollout&) const = default;
};

// What a reset resolved: everything that an episode's observations and rewards depend on besides its rollouts. The
// store keeps it as JSON (SessionRecord::spec), so that an episode survives a restart.
struct SessionSpec {
  std::string task;
  std::string task_hash;  // of the task's file: an episode does not go on with another task of the same name
  std::string size;
  std::string interface_name;
  std::string method;
  std::string profile;
  std::string reward;
  std::string feedback;  // "full", "class", "none" (Method::feedback)
  uint64_t seed = 0;
  int max_turns = 1;
  std::optional<double> target_speedup;
  std::optional<std::chrono::milliseconds> budget;
  std::vector<ShownRollout> exemplars;
  uint64_t exemplars_as_of = 0;
  std::string group_id;
  std::string policy_version;
  std::optional<std::string> baseline_source;
  std::map<std::string, std::string> device;  // as the first observation told it

  bool operator==(const SessionSpec&) const = default;
};

// Texts of the spec must be UTF-8.
std::string ToJsonText(const SessionSpec& spec);
// kInvalidArgument names the field: missing, unknown, ill-typed, or not a value that it can have.
Result<SessionSpec> SessionSpecFromJson(std::string_view text);

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_SESSION_SPEC_H_

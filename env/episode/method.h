// A published method as one file: what to measure, how to reward, what to show (configs/methods/<name>.yaml).
#ifndef TOUCHSTONE_ENV_EPISODE_METHOD_H_
#define TOUCHSTONE_ENV_EPISODE_METHOD_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace touchstone {

inline constexpr int kMaxTurns = 1000;
inline constexpr int kMaxExemplars = 16;
inline constexpr std::chrono::milliseconds kMaxBudget{7L * 24 * 3600 * 1000};

// What a reset takes where the caller does not say.
struct Method {
  std::string name;
  std::string profile = "quick";
  std::string reward = "speedup_lcb";
  std::string size = "cpu";
  int max_turns = 1;
  std::optional<double> target_speedup;             // none: an episode does not end by being good
  std::optional<std::chrono::milliseconds> budget;  // wall clock of an episode; none: no limit
  int exemplars = 0;                                // stored rollouts in the first observation
  std::string selector = "cuda_l1";
  double temperature = 1.0;   // of the selector cuda_l1
  double bucket_width = 0.1;  // of the selector cuda_l1
  std::string feedback = "full";
};

// "full": by outcome class, with diagnostics and numbers; "class": one sentence; "none": no text.
bool IsFeedback(std::string_view name);

// A flat map; what it leaves out keeps its default. Errors name file, line and key. That the reward exists is checked;
// whether profile and selector do is for who has them.
Result<Method> ParseMethod(const std::string& yaml, const std::string& method_name, const std::string& file_for_errors);

// Every *.yaml of a folder, by name. One bad file is an error; no method named `default` is one, too.
Result<std::map<std::string, Method>> LoadMethods(const std::string& folder);

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_METHOD_H_

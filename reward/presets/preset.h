// Rewards: pure functions of the stored record. docs/rewards.md gives every formula with its source.
#ifndef TOUCHSTONE_REWARD_PRESETS_PRESET_H_
#define TOUCHSTONE_REWARD_PRESETS_PRESET_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reward/result.h"

namespace touchstone {

// One summand or factor of a reward, by the name that its source uses.
struct RewardTerm {
  std::string name;
  std::optional<double> value;  // none: cannot be computed from this record; `why_undefined` says what is absent
  std::string why_undefined;
};

// What a preset makes of one record.
struct Reward {
  // None: no reward may follow from this record (environment fault, cancelled, deadline), or the method discards it.
  std::optional<double> value;
  std::string why_none;
  std::vector<RewardTerm> terms;
};

struct RewardPreset {
  std::string_view name;
  std::string_view formula;  // for people, one line
  std::string_view source;   // paper and section, or repository
  double low;                // declared range of `value`; infinite where the source sets no bound
  double high;
  // `best_before`: best rewarded speedup of the episode before this record; 0 where there is none.
  Reward (*compute)(const EvalResult& result, double best_before);
};

// All of them, by name. "speedup_lcb" is the default.
std::span<const RewardPreset> RewardPresets();
// kNotFound lists the names there are.
Result<const RewardPreset*> FindRewardPreset(std::string_view name);

// What trainers that add up rewards over an episode use: the sum over all turns is the episode's best reward. The
// first defined reward counts whole, each later one by what it is above the best before it (never below 0).
double RewardIncrement(const std::optional<double>& best_before, const std::optional<double>& reward);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_PRESETS_PRESET_H_

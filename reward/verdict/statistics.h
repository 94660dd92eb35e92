// From per-round times to a speedup with an interval (design §8). Pure functions: no clock, no global state.
#ifndef TOUCHSTONE_REWARD_VERDICT_STATISTICS_H_
#define TOUCHSTONE_REWARD_VERDICT_STATISTICS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace touchstone {

// One round: the same inputs through both sides, back to back. Microseconds a call, by the judge's clock.
struct RoundTimes {
  double baseline_us = 0;
  double candidate_us = 0;
};

// The rounds of one fresh candidate process.
using StartRounds = std::vector<RoundTimes>;

struct SpeedupOptions {
  double confidence = 0.95;
  // Standard deviation of log(speedup) between process starts, from the host's own calibration; < 0: not calibrated.
  double between_start_sd = -1;
  int resamples = 1000;
  uint64_t seed = 0;
};

struct SpeedupEstimate {
  double speedup = 0;  // median of per-round ratios baseline/candidate
  double lower = 0;    // interval at `confidence`; a mere guess where it is not stated
  double upper = 0;
  double half_width = 0;         // (upper - lower) / (2 speedup)
  double standard_error = 0;     // of log(speedup)
  double within_start_sd = 0;    // of the log-ratio of one round
  double between_start_sd = 0;   // the value that was used
  double autocorrelation = 0;    // lag 1 of the log-ratios within starts, as used: in [0, 0.95]
  bool interval_stated = false;  // false: too few or too irregular rounds; `reason` says why
  std::string reason;
};

// Needs at least one round; every time must be positive and finite. Deterministic. Swapping the sides of all rounds
// inverts speedup, lower and upper. Fast enough to be asked after every round (docs/measuring.md has the formulas).
SpeedupEstimate EstimateSpeedup(std::span<const StartRounds> starts, const SpeedupOptions& options);

// The standard deviation of log(speedup) between starts beyond what the rounds of each, taken as independent, explain:
// the value for SpeedupOptions::between_start_sd. What varies slowly within a start counts as between starts here, so
// starts should be as long as those to be judged. Needs at least two starts of at least two rounds.
double BetweenStartSd(std::span<const StartRounds> starts);

double Median(std::vector<double> values);
// Linear interpolation between order statistics; q in [0, 1].
double Quantile(std::vector<double> values, double q);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_VERDICT_STATISTICS_H_

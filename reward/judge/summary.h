#ifndef TOUCHSTONE_REWARD_JUDGE_SUMMARY_H_
#define TOUCHSTONE_REWARD_JUDGE_SUMMARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "reward/result.h"
#include "reward/verdict/statistics.h"

namespace touchstone {

// What the numbers of a finished measurement are judged by.
struct SummaryOptions {
  double confidence = 0.95;
  double between_start_sd = -1;  // of log(speedup), from the host's calibration; < 0: not calibrated
  uint64_t seed = 0;             // of the bootstraps
  double target_half_width = 0.02;
  // The profile has single calls: without enough valid ones there is no bound, and so no reward (design: V8).
  bool solos_required = false;
  // Wider than this the result is `unstable` and scored by its lower bound.
  double unstable_half_width = 0.25;
  // In-round and alone baseline further apart than this are a finding (design: V7).
  double baseline_agreement = 0.03;
};

// Assumed spread between process starts on a host that `touchstone calibrate` has not seen, where an evaluation has too
// few starts to find it by itself: more than any host showed so far, so the interval is too wide rather than too
// narrow.
inline constexpr double kAssumedBetweenStartSd = 0.01;

// What EstimateSpeedup is asked with for `starts` starts.
SpeedupOptions MakeSpeedupOptions(const SummaryOptions& options, size_t starts);

// The valid windows of a record, by start.
std::vector<StartRounds> WindowsByStart(const std::vector<RoundRecord>& rounds);

// Upper bound of the speedup that single calls allow (design: V8). A single call pays a fixed extra (cold caches, the
// hand-shake) that the baseline, whose code is trusted, shows as the difference between its solo and its window time;
// the candidate's solo time less that extra is what one call costs it. Bootstrap over solos, upper quantile. 0 when
// fewer than 5 valid solos exist.
double SoloUpperBound(const std::vector<RoundRecord>& rounds, double confidence, uint64_t seed);

// Fills medians, speedup, bounds, rewarded values and the final status of a record whose rounds are all right. Pure.
void Summarize(const SummaryOptions& options, EvalResult& result);

// For a record whose first attempt failed for a reason that need not be the candidate's: adds the finding and the
// rounds of that attempt, void, and scores by the lower bound. Whoever can end an attempt so that it looks like
// somebody else's doing would otherwise choose the luckier of two measurements (design: V13).
void MarkSecondAttempt(const std::string& why, std::vector<RoundRecord> lost_rounds, EvalResult& record);

// The result of two measurements, the first of which was unstable: the second, with the rounds of the first, void, and
// what both cost. It earns no more than the upper end of the first one's interval: whoever makes a measurement unstable
// on purpose gains nothing by it (design: V13). A second attempt within the first one counts for both. A second one
// that our environment spoiled leaves the first.
EvalResult MeasuredAgain(EvalResult first, EvalResult second);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_SUMMARY_H_

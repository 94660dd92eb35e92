#include "reward/judge/summary.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace touchstone {
namespace {

constexpr size_t kMinimumSolos = 5;
constexpr int kResamples = 400;
constexpr size_t kStartsThatShowTheirSpread = 3;

bool Counts(const RoundRecord& round, bool solo) { return !round.is_void && round.solo == solo; }

std::vector<double> Times(const std::vector<RoundRecord>& rounds, bool solo, double RoundRecord::*side) {
  std::vector<double> times;
  for (const RoundRecord& round : rounds) {
    if (Counts(round, solo)) times.push_back(round.*side);
  }
  return times;
}

// Standard error of a median, by the interquartile range (1.253 σ / √n, σ = IQR / 1.349).
double MedianError(const std::vector<double>& times) {
  if (times.size() < 4) return Median(times);
  return 1.253 * (Quantile(times, 0.75) - Quantile(times, 0.25)) / 1.349 / std::sqrt(static_cast<double>(times.size()));
}

void AddEvidence(EvalResult& result, std::string id, Evidence::Severity severity, std::string explanation,
                 std::map<std::string, double> numbers) {
  result.evidence.push_back({std::move(id), severity, std::move(explanation), std::move(numbers)});
}

// The factor by which the speedup must shrink because the baseline ran slower beside the candidate than without it. A
// baseline that is slower both before and after is the host's doing; so is what lies within the noise of the rounds.
double BaselineCorrection(const SummaryOptions& options, EvalResult& result, bool* disagrees) {
  *disagrees = false;
  const double alone_us = std::max(result.baseline_alone_us, result.baseline_after_us);
  if (!(alone_us > 0)) return 1;
  const auto times = Times(result.rounds, false, &RoundRecord::baseline_us);
  const double slower = result.baseline_us / alone_us - 1;
  const bool both = result.baseline_alone_us > 0 && result.baseline_after_us > 0;
  const double drift = both ? std::fabs(result.baseline_after_us / result.baseline_alone_us - 1) : 0;
  if (slower <= std::max({options.baseline_agreement, drift, 4 * MedianError(times) / alone_us})) return 1;
  *disagrees = true;
  AddEvidence(result, "baseline_moved", Evidence::Severity::kSuspicious,
              "the baseline is slower beside the candidate than before and after it", {{"relative", slower}});
  return 1 / (1 + slower);
}

// Puts the rounds of a measurement that does not count before those of the one that does.
void KeepVoid(std::vector<RoundRecord> lost, const std::string& why, EvalResult& record) {
  for (RoundRecord& round : lost) {
    round.is_void = true;
    if (round.void_reason.empty()) round.void_reason = why;
  }
  record.rounds.insert(record.rounds.begin(), lost.begin(), lost.end());
}

}  // namespace

SpeedupOptions MakeSpeedupOptions(const SummaryOptions& options, size_t starts) {
  SpeedupOptions speedup;
  speedup.confidence = options.confidence;
  speedup.between_start_sd = options.between_start_sd;
  if (options.between_start_sd < 0 && starts < kStartsThatShowTheirSpread) {
    speedup.between_start_sd = kAssumedBetweenStartSd;
  }
  speedup.seed = options.seed;
  return speedup;
}

std::vector<StartRounds> WindowsByStart(const std::vector<RoundRecord>& rounds) {
  std::vector<StartRounds> starts;
  for (const RoundRecord& round : rounds) {
    if (!Counts(round, false)) continue;
    if (starts.size() <= static_cast<size_t>(round.start)) starts.resize(static_cast<size_t>(round.start) + 1);
    starts[static_cast<size_t>(round.start)].push_back({round.baseline_us, round.candidate_us});
  }
  std::erase_if(starts, [](const StartRounds& start) { return start.empty(); });
  return starts;
}

double SoloUpperBound(const std::vector<RoundRecord>& rounds, double confidence, uint64_t seed) {
  const auto baseline_solo = Times(rounds, true, &RoundRecord::baseline_us);
  const auto candidate_solo = Times(rounds, true, &RoundRecord::candidate_us);
  const auto baseline_window = Times(rounds, false, &RoundRecord::baseline_us);
  if (candidate_solo.size() < kMinimumSolos || baseline_window.empty()) return 0;
  const double window_us = Median(baseline_window);
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<size_t> pick(0, candidate_solo.size() - 1);
  std::vector<double> bounds;
  std::vector<double> baseline_sample(baseline_solo.size());
  std::vector<double> candidate_sample(candidate_solo.size());
  for (int r = 0; r < kResamples; ++r) {
    for (size_t i = 0; i < candidate_solo.size(); ++i) {
      const size_t j = pick(random);
      baseline_sample[i] = baseline_solo[j];
      candidate_sample[i] = candidate_solo[j];
    }
    const double extra_us = std::max(0.0, Median(baseline_sample) - window_us);
    const double call_us = Median(candidate_sample) - extra_us;
    bounds.push_back(call_us > 0 ? window_us / call_us : 1e9);
  }
  return Quantile(bounds, 0.5 + confidence / 2);
}

void Summarize(const SummaryOptions& options, EvalResult& result) {
  const auto starts = WindowsByStart(result.rounds);
  if (starts.empty()) {
    result.status = EvalStatus::kUnstable;
    result.reason = "no round was undisturbed";
    return;
  }
  const SpeedupOptions speedup_options = MakeSpeedupOptions(options, starts.size());
  result.speedup = EstimateSpeedup(starts, speedup_options);
  if (options.between_start_sd < 0 && speedup_options.between_start_sd >= 0) {
    AddEvidence(result, "uncalibrated_host", Evidence::Severity::kInfo,
                "the spread between process starts is assumed; `touchstone calibrate` measures it",
                {{"assumed_sd", speedup_options.between_start_sd}});
  }
  result.baseline_us = Median(Times(result.rounds, false, &RoundRecord::baseline_us));
  result.candidate_us = Median(Times(result.rounds, false, &RoundRecord::candidate_us));
  result.solo_upper_bound = SoloUpperBound(result.rounds, options.confidence, options.seed);

  bool baseline_disagrees = false;
  const double correction = BaselineCorrection(options, result, &baseline_disagrees);
  double speedup = result.speedup.speedup * correction;
  double lower = result.speedup.lower * correction;
  if (result.solo_upper_bound > 0 && result.solo_upper_bound < speedup) {
    AddEvidence(result, "solo_bound", Evidence::Severity::kSuspicious,
                "single calls are slower than calls in a window: work may be moved between calls",
                {{"window_speedup", speedup}, {"solo_upper_bound", result.solo_upper_bound}});
    speedup = result.solo_upper_bound;
    lower = std::min(lower, speedup);
  }
  if (result.floor_us > 0 && result.candidate_us < result.floor_us) {
    result.status = EvalStatus::kBelowFloor;
    result.reason = "faster than the memory traffic and arithmetic of the task allow";
    AddEvidence(result, "below_floor", Evidence::Severity::kCondemns, result.reason,
                {{"candidate_us", result.candidate_us}, {"floor_us", result.floor_us}});
    return;
  }
  if (options.solos_required && !(result.solo_upper_bound > 0)) {
    result.status = EvalStatus::kUnstable;
    result.reason = "too few single calls were undisturbed";
    return;
  }
  const bool wide = !result.speedup.interval_stated || result.speedup.half_width > options.unstable_half_width;
  if (wide || baseline_disagrees) {
    result.status = EvalStatus::kUnstable;
    result.reason = baseline_disagrees               ? "the baseline did not keep its time beside the candidate"
                    : result.speedup.interval_stated ? "the interval is wider than the profile accepts"
                                                     : "no interval can be stated: " + result.speedup.reason;
    result.rewarded_speedup = lower;
    result.rewarded_lower_bound = lower;
    return;
  }
  result.status = EvalStatus::kSuccess;
  result.rewarded_speedup = speedup;
  result.rewarded_lower_bound = lower;
}

void MarkSecondAttempt(const std::string& why, std::vector<RoundRecord> lost_rounds, EvalResult& record) {
  AddEvidence(record, "second_attempt", Evidence::Severity::kInfo, why,
              {{"rounds", static_cast<double>(lost_rounds.size())}});
  KeepVoid(std::move(lost_rounds), "of an attempt that failed", record);
  record.rewarded_speedup = std::min(record.rewarded_speedup, record.rewarded_lower_bound);
}

EvalResult MeasuredAgain(EvalResult first, EvalResult second) {
  const SpeedupEstimate& estimate = first.speedup;
  const std::map<std::string, double> numbers = {
      {"first_speedup", estimate.speedup}, {"first_lower", estimate.lower}, {"first_upper", estimate.upper}};
  if (second.fault() == Fault::kEnvironment) {
    AddEvidence(first, "measured_again", Evidence::Severity::kInfo, "the second measurement failed: " + second.reason,
                numbers);
    return first;
  }
  AddEvidence(second, "measured_again", Evidence::Severity::kInfo,
              "the first measurement was unstable: " + first.reason, numbers);
  if (estimate.upper > 0) {
    second.rewarded_speedup = std::min(second.rewarded_speedup, estimate.upper);
    second.rewarded_lower_bound = std::min(second.rewarded_lower_bound, second.rewarded_speedup);
  }
  for (Evidence& evidence : first.evidence) {
    if (evidence.id != "second_attempt") continue;
    second.evidence.push_back(std::move(evidence));
    second.rewarded_speedup = std::min(second.rewarded_speedup, second.rewarded_lower_bound);
  }
  for (const auto& [step, ms] : first.budget_ms) {
    if (step != "compile") second.budget_ms[step] += ms;
  }
  KeepVoid(std::move(first.rounds), "of a measurement that was unstable", second);
  return second;
}

}  // namespace touchstone

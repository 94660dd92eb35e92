#include "reward/presets/cuda_l1.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "reward/verdict/statistics.h"

namespace touchstone {
namespace {

constexpr double kVerifyAbove = 3;          // the speedup from which a second measurement is required
constexpr double kVerifyAboveBest = 2;      // the same, relative to the best before
constexpr double kVerifyDifference = 0.10;  // by which the two may differ

std::string Shown(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

// The single-run scores, each start's in the order of time.
std::vector<std::vector<double>> RatiosByStart(const EvalResult& result) {
  std::vector<std::vector<double>> starts;
  int start = -1;
  for (const RoundRecord& round : result.rounds) {
    if (round.solo || round.is_void || !(round.baseline_us > 0) || !(round.candidate_us > 0)) continue;
    if (starts.empty() || round.start != start) starts.emplace_back();
    start = round.start;
    starts.back().push_back(round.baseline_us / round.candidate_us);
  }
  return starts;
}

double Mean(const double* begin, const double* end) {
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

// Equal shares of the rounds in their order, which shows a drift.
std::vector<double> BucketMeans(const std::vector<double>& ratios) {
  std::vector<double> means;
  for (size_t i = 0; i < kCudaL1Buckets; ++i) {
    const double* data = ratios.data();
    means.push_back(Mean(data + i * ratios.size() / kCudaL1Buckets, data + (i + 1) * ratios.size() / kCudaL1Buckets));
  }
  return means;
}

double PopulationVariance(const std::vector<double>& values) {
  const double mean = Mean(values.data(), values.data() + values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size());
}

// The largest relative difference between the medians of two starts; none where there is one start.
std::optional<double> DifferenceOfStarts(const std::vector<std::vector<double>>& starts) {
  if (starts.size() < 2) return std::nullopt;
  double low = Median(starts[0]);
  double high = low;
  for (const std::vector<double>& start : starts) {
    low = std::min(low, Median(start));
    high = std::max(high, Median(start));
  }
  return high / low - 1;
}

}  // namespace

double RoundTowardOne(double speedup) {
  constexpr double kSlack = 1e-9;  // 1.15 is 114.99999999999999 hundredths
  if (speedup >= 1) return std::floor(speedup * 100 + kSlack) / 100;
  return std::min(1.0, std::ceil(speedup * 100 - kSlack) / 100);
}

Reward CudaL1Reward(const EvalResult& result, double best_before) {
  Reward reward;
  const auto starts = RatiosByStart(result);
  std::vector<double> ratios;
  for (const std::vector<double>& start : starts) ratios.insert(ratios.end(), start.begin(), start.end());
  if (ratios.size() < kCudaL1Buckets) {
    reward.why_none = "fewer than seven valid rounds: there are no seven buckets";
    return reward;
  }
  const std::vector<double> means = BucketMeans(ratios);
  const double variance = PopulationVariance(means);
  const double median = Median(means);
  // What the judge takes off its own estimate (work moved between calls, a baseline that was slowed) is taken off here.
  const double kept =
      result.speedup.speedup > 0 ? std::min(1.0, result.rewarded_speedup / result.speedup.speedup) : 1.0;
  const double speedup = median * kept;
  reward.terms = {{"median_of_buckets", median, ""}, {"variance_of_buckets", variance, ""}, {"kept", kept, ""}};
  if (variance > kCudaL1MaxVariance) {
    reward.why_none = "discarded: the variance of the bucket means is " + Shown(variance) + ", above 0.005";
    return reward;
  }
  if (speedup > kVerifyAbove || (best_before > 0 && speedup > kVerifyAboveBest * best_before)) {
    const std::optional<double> difference = DifferenceOfStarts(starts);
    reward.terms.push_back({"remeasurement_difference", difference, difference ? "" : "the record has one start"});
    if (!difference) {
      reward.why_none = "a speedup of " + Shown(speedup) +
                        " is above 3, or above twice the best before: it needs a second measurement, and the record "
                        "shows none";
      return reward;
    }
    if (*difference > kVerifyDifference) {
      reward.why_none = "rejected: the second measurement differs by " + Shown(*difference * 100) + " %, above 10 %";
      return reward;
    }
  }
  reward.value = RoundTowardOne(speedup);
  return reward;
}

}  // namespace touchstone

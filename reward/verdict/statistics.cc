#include "reward/verdict/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/result.h"
#include "reward/verdict/bootstrap.h"
#include "reward/verdict/noise.h"
#include "reward/verdict/student.h"

namespace touchstone {
namespace {

constexpr size_t kLeastRounds = 6;  // of each start, for an interval
constexpr size_t kLeastStarts = 3;  // to estimate the spread between starts from them
constexpr double kTrendLimit = 3;   // standard errors
constexpr double kStrongCorrection = 1.3;
constexpr double kNormal = 1e6;  // degrees of freedom of a normal distribution
// The bootstrap overstates the variance of a median of some tens of values by a third.
constexpr double kBootstrapBias = 0.75;

Series LogRatios(std::span<const StartRounds> starts) {
  Series series;
  for (const StartRounds& start : starts) {
    if (start.empty()) continue;
    std::vector<double>& logs = series.emplace_back();
    for (const RoundTimes& round : start) {
      TOUCHSTONE_CHECK(round.baseline_us > 0 && std::isfinite(round.baseline_us), "a time that is no time");
      TOUCHSTONE_CHECK(round.candidate_us > 0 && std::isfinite(round.candidate_us), "a time that is no time");
      logs.push_back(std::log(round.baseline_us) - std::log(round.candidate_us));
    }
  }
  TOUCHSTONE_CHECK(!series.empty(), "no rounds");
  return series;
}

std::vector<double> Joined(const Series& series) {
  std::vector<double> all;
  for (const std::vector<double>& start : series) all.insert(all.end(), start.begin(), start.end());
  return all;
}

double VarianceOfMedians(const Series& series) {
  double mean = 0, squares = 0;
  std::vector<double> medians;
  for (const std::vector<double>& start : series) medians.push_back(Median(start));
  for (const double median : medians) mean += median / static_cast<double>(medians.size());
  for (const double median : medians) squares += (median - mean) * (median - mean);
  return medians.size() < 2 ? 0 : squares / static_cast<double>(medians.size() - 1);
}

// The block length that minimises the error of a bootstrap variance for AR(1) (Carlstein 1986).
int BlockLength(double rho, double rounds) {
  const double best = std::pow(2 * rho / (1 - rho * rho), 2.0 / 3) * std::cbrt(rounds);
  return static_cast<int>(std::clamp(std::round(best), 1.0, std::max(1.0, std::floor(rounds / 3))));
}

// What the rounds alone say about the error of the median.
struct Within {
  double bootstrap_sd = 0;
  double correction = 1;  // true sd of a mean over the one that a bootstrap of these blocks sees, for AR(1)
  double degrees = 1;
};

Within FromRounds(const Series& series, size_t count, double rho, const SpeedupOptions& options) {
  const double starts = static_cast<double>(series.size());
  const double rounds = static_cast<double>(count) / starts;
  const int n = static_cast<int>(std::round(rounds));
  const int block = BlockLength(rho, rounds);
  Within within;
  within.bootstrap_sd = BootstrapSdOfMedian(series, block, options.resamples, options.seed);
  if (n < 2) return within;
  const double mean = VarianceOfMean(n, rho);
  within.correction = std::sqrt(mean / (block * (VarianceOfMean(block, rho) - mean) / n));
  within.degrees = std::max(starts + 2, starts * (1 / mean - 1));  // no fewer, however strong the autocorrelation
  return within;
}

// The median over starts is a worse average than the mean where the spread between starts dominates: how much larger
// its variance is.
double MedianPenalty(double starts, double between_variance, double within_variance) {
  if (!(between_variance > 0)) return 1;
  const double share = between_variance / (between_variance + within_variance);
  return 1 + share * (starts * (M_PI / 2) / (starts + M_PI / 2 - 1) - 1);
}

std::string Format(const char* format, double a, double b = 0) {
  char text[200];
  std::snprintf(text, sizeof(text), format, a, b);
  return text;
}

class Estimator {
 public:
  Estimator(const Series& series, const SpeedupOptions& options)
      : series_(series), options_(options), starts_(static_cast<double>(series.size())) {}

  SpeedupEstimate Run() {
    const std::vector<double> all = Joined(series_);
    noise_ = MeasureNoise(series_);
    within_ = FromRounds(series_, all.size(), noise_.autocorrelation, options_);
    observed_ = VarianceOfMedians(series_);
    estimate_.within_start_sd = noise_.sd;
    estimate_.autocorrelation = noise_.autocorrelation;
    const bool starts_suffice = series_.size() >= kLeastStarts && within_.correction > kStrongCorrection;
    if (options_.between_start_sd >= 0 && !starts_suffice) {
      Calibrated();
    } else {
      FromStarts();
    }
    estimate_.reason = WhyNot();
    estimate_.interval_stated = estimate_.reason.empty();
    const double log_speedup = Median(all);
    estimate_.speedup = std::exp(log_speedup);
    estimate_.lower = std::exp(log_speedup - half_);
    estimate_.upper = std::exp(log_speedup + half_);
    estimate_.half_width = std::sinh(half_);
    return std::move(estimate_);
  }

 private:
  double Penalty(double between_variance) const {
    return MedianPenalty(starts_, between_variance, noise_.sd * noise_.sd);
  }

  // The spread between starts is known from this host. It has the slow part of a start's noise in it, so only half of
  // the correction for autocorrelation (in the exponent) is added to what the rounds show.
  void Calibrated() {
    const double sd = options_.between_start_sd;
    const double rounds = within_.bootstrap_sd * std::sqrt(within_.correction);
    const double between = sd * std::sqrt(Penalty(sd * sd) / starts_);
    estimate_.between_start_sd = sd;
    estimate_.standard_error = std::hypot(rounds, between);
    half_ = std::hypot(rounds * StudentQuantile(options_.confidence, within_.degrees),
                       between * StudentQuantile(options_.confidence, kNormal));
    if (starts_ < 2) return;
    const double expected = sd * sd + starts_ * rounds * rounds;
    contradicted_ = observed_ > expected * (1 + 6 * std::sqrt(2 / (starts_ - 1)));
    if (!contradicted_) return;
    const double calibrated_half = half_;
    FromStarts();
    half_ = std::max(half_, calibrated_half);
  }

  // Student's interval over the medians of the starts needs no assumption on what happens within a start. Where the
  // starts agree by luck, the rounds give the least that can be claimed.
  void FromStarts() {
    const double rounds = within_.bootstrap_sd * within_.correction;
    const double from_rounds = rounds * StudentQuantile(options_.confidence, within_.degrees);
    const double excess = std::max(0.0, observed_ - starts_ * rounds * rounds);
    const double error = std::sqrt(Penalty(excess) * observed_ / starts_);
    estimate_.between_start_sd = std::sqrt(excess);
    estimate_.standard_error = std::max(error, rounds);
    half_ = from_rounds;
    if (series_.size() < kLeastStarts) return;
    half_ = std::max(error * StudentQuantile(options_.confidence, starts_ - 1), from_rounds / 2);
  }

  std::string WhyNot() const {
    for (size_t i = 0; i < series_.size(); ++i) {
      const double rounds = static_cast<double>(series_[i].size());
      if (series_[i].size() >= kLeastRounds) continue;
      return Format("a start has %.0f rounds, an interval needs %.0f", rounds, kLeastRounds);
    }
    if (!(noise_.sd > 0)) return "all rounds are equal: the clock is too coarse for them";
    if (noise_.trend_significance > kTrendLimit) {
      return Format("the ratio drifts by %.2g %% over a start (%.1f standard errors)", 100 * std::expm1(noise_.trend),
                    noise_.trend_significance);
    }
    if (series_.size() >= kLeastStarts) return "";
    if (options_.between_start_sd < 0) {
      return Format("%.0f start(s) and no calibration of this host: the spread between starts is unknown", starts_);
    }
    return contradicted_ ? "the starts differ more than the calibration of this host allows" : "";
  }

  const Series& series_;
  const SpeedupOptions& options_;
  const double starts_;
  Noise noise_;
  Within within_;
  double observed_ = 0;  // variance of the medians of the starts
  double half_ = 0;      // half of the interval, in logarithms
  bool contradicted_ = false;
  SpeedupEstimate estimate_;
};

}  // namespace

SpeedupEstimate EstimateSpeedup(std::span<const StartRounds> starts, const SpeedupOptions& options) {
  return Estimator(LogRatios(starts), options).Run();
}

double BetweenStartSd(std::span<const StartRounds> starts) {
  const Series series = LogRatios(starts);
  double own = 0;
  for (const std::vector<double>& start : series) {
    const Within within = FromRounds({start}, start.size(), 0, SpeedupOptions{.resamples = 200});
    own += std::pow(within.bootstrap_sd * within.correction, 2) / static_cast<double>(series.size());
  }
  return std::sqrt(std::max(0.0, VarianceOfMedians(series) - kBootstrapBias * own));
}

double Quantile(std::vector<double> values, double q) {
  TOUCHSTONE_CHECK(!values.empty(), "a quantile of nothing");
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(place);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(below), values.end());
  const double low = values[below];
  if (below + 1 == values.size()) return low;
  if (place == static_cast<double>(below)) return low;
  const double high = *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(below) + 1, values.end());
  const double part = place - static_cast<double>(below);
  // Both weights the same way round, so that the quantiles of the negated values are the negated ones.
  return part == 0.5 ? (low + high) / 2 : low * (1 - part) + high * part;
}

double Median(std::vector<double> values) { return Quantile(std::move(values), 0.5); }

}  // namespace touchstone

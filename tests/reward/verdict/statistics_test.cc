#include "reward/verdict/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reward/verdict/noise.h"
#include "reward/verdict/student.h"
#include "tests/reward/verdict/simulation.h"

namespace touchstone {
namespace {

using ::testing::HasSubstr;
using Starts = std::vector<StartRounds>;

constexpr SpeedupOptions kCalibrated{.between_start_sd = 0.003};

Starts Simulated(int starts, int rounds, uint64_t seed = 1, const Law& law = {}) {
  Simulation simulation(seed);
  return simulation.Starts(law, starts, rounds);
}

template <typename F>
Starts Map(Starts starts, F change) {
  for (StartRounds& start : starts) {
    for (RoundTimes& round : start) round = change(round);
  }
  return starts;
}

void ExpectSame(const SpeedupEstimate& a, const SpeedupEstimate& b, double factor = 1) {
  EXPECT_NEAR(a.speedup * factor / b.speedup, 1, 1e-12);
  EXPECT_NEAR(a.lower * factor / b.lower, 1, 1e-12);
  EXPECT_NEAR(a.upper * factor / b.upper, 1, 1e-12);
  EXPECT_NEAR(a.half_width, b.half_width, 1e-12);
  EXPECT_NEAR(a.standard_error, b.standard_error, 1e-12);
  EXPECT_NEAR(a.autocorrelation, b.autocorrelation, 1e-9);
  EXPECT_EQ(a.interval_stated, b.interval_stated);
}

// The properties hold for every kind of input: few and many starts, calibrated or not, with and without patterns.
struct Input {
  Starts starts;
  SpeedupOptions options;
};
std::vector<Input> Inputs() {
  std::vector<Input> inputs;
  uint64_t seed = 100;
  for (const int starts : {1, 2, 3, 5}) {
    for (const int rounds : {1, 3, 6, 7, 8, 13, 24}) {
      for (const Law& law : {Law{}, Law{.phi = 0.8}, Law{.drift = 5}, Law{.student_degrees = 3, .between = 1}}) {
        for (const double sd : {-1.0, 0.0, 0.004}) {
          inputs.push_back(
              {Simulated(starts, rounds, ++seed, law), {.between_start_sd = sd, .resamples = 100, .seed = seed}});
        }
      }
    }
  }
  return inputs;
}

TEST(SpeedupProperty, IntervalHoldsTheEstimateAndIsFinite) {
  for (const Input& input : Inputs()) {
    const SpeedupEstimate e = EstimateSpeedup(input.starts, input.options);
    EXPECT_GT(e.lower, 0);
    EXPECT_LE(e.lower, e.speedup);
    EXPECT_LE(e.speedup, e.upper);
    EXPECT_TRUE(std::isfinite(e.upper));
    EXPECT_NEAR(e.half_width, (e.upper - e.lower) / (2 * e.speedup), 1e-9 * (1 + e.half_width));
    EXPECT_EQ(e.interval_stated, e.reason.empty());
    EXPECT_GE(e.autocorrelation, 0);
    EXPECT_LE(e.autocorrelation, 0.95);
  }
}

TEST(SpeedupProperty, TheUnitOfTimeDoesNotMatter) {
  for (const Input& input : Inputs()) {
    const Starts scaled = Map(input.starts, [](RoundTimes r) {
      return RoundTimes{r.baseline_us * 1000, r.candidate_us * 1000};
    });
    ExpectSame(EstimateSpeedup(input.starts, input.options), EstimateSpeedup(scaled, input.options));
  }
}

TEST(SpeedupProperty, ACandidateThatIsTwiceAsFastHasTwiceTheSpeedup) {
  for (const Input& input : Inputs()) {
    const Starts faster = Map(input.starts, [](RoundTimes r) { return RoundTimes{r.baseline_us, r.candidate_us / 2}; });
    ExpectSame(EstimateSpeedup(input.starts, input.options), EstimateSpeedup(faster, input.options), 2);
  }
}

TEST(SpeedupProperty, SwappingTheSidesInvertsTheResult) {
  for (const Input& input : Inputs()) {
    const Starts swapped = Map(input.starts, [](RoundTimes r) { return RoundTimes{r.candidate_us, r.baseline_us}; });
    const SpeedupEstimate e = EstimateSpeedup(input.starts, input.options);
    SpeedupEstimate s = EstimateSpeedup(swapped, input.options);
    s.speedup = 1 / s.speedup;
    std::swap(s.lower, s.upper);
    s.lower = 1 / s.lower;
    s.upper = 1 / s.upper;
    ExpectSame(e, s);
  }
}

TEST(SpeedupProperty, ANoiseOfBothSidesCancels) {
  for (const Input& input : Inputs()) {
    double slow = 1;
    const Starts slower = Map(input.starts, [&](RoundTimes r) {
      slow *= 1.07;
      return RoundTimes{r.baseline_us * slow, r.candidate_us * slow};
    });
    const SpeedupEstimate a = EstimateSpeedup(input.starts, input.options);
    const SpeedupEstimate b = EstimateSpeedup(slower, input.options);
    EXPECT_NEAR(a.speedup / b.speedup, 1, 1e-9);
    EXPECT_NEAR(a.half_width, b.half_width, 1e-6 * (1 + a.half_width));
  }
}

TEST(SpeedupProperty, OrderOfRoundsAndStartsDoesNotMoveTheEstimate) {
  for (const Input& input : Inputs()) {
    Starts other = input.starts;
    std::reverse(other.begin(), other.end());
    for (StartRounds& start : other) std::rotate(start.begin(), start.begin() + start.size() / 2, start.end());
    EXPECT_DOUBLE_EQ(EstimateSpeedup(input.starts, input.options).speedup,
                     EstimateSpeedup(other, input.options).speedup);
  }
}

TEST(SpeedupProperty, OrderOfStartsMovesTheIntervalNoMoreThanAnotherSeed) {
  const Starts starts = Simulated(3, 24, 5);
  Starts other = starts;
  std::reverse(other.begin(), other.end());
  SpeedupOptions seeded = kCalibrated;
  seeded.seed = 77;
  const double width = EstimateSpeedup(starts, kCalibrated).half_width;
  EXPECT_NEAR(EstimateSpeedup(other, kCalibrated).half_width / width, 1, 0.1);
  EXPECT_NEAR(EstimateSpeedup(starts, seeded).half_width / width, 1, 0.1);
}

TEST(SpeedupProperty, TimeReversalKeepsTheNoise) {
  for (const Input& input : Inputs()) {
    Starts reversed = input.starts;
    for (StartRounds& start : reversed) std::reverse(start.begin(), start.end());
    EXPECT_NEAR(EstimateSpeedup(input.starts, input.options).autocorrelation,
                EstimateSpeedup(reversed, input.options).autocorrelation, 1e-9);
  }
}

TEST(SpeedupProperty, AFasterRoundNeverLowersTheEstimate) {
  for (const Input& input : Inputs()) {
    Starts starts = input.starts;
    double before = EstimateSpeedup(starts, input.options).speedup;
    for (RoundTimes& round : starts[0]) {
      round.candidate_us *= 0.9;
      const double after = EstimateSpeedup(starts, input.options).speedup;
      EXPECT_GE(after, before);
      before = after;
    }
  }
}

TEST(SpeedupProperty, MoreConfidenceOrMoreSpreadWidensTheInterval) {
  for (const int starts : {1, 3, 5}) {
    const Starts rounds = Simulated(starts, 16, 9);
    double width = 0;
    for (const double confidence : {0.5, 0.8, 0.9, 0.95, 0.99}) {
      const double next = EstimateSpeedup(rounds, {.confidence = confidence, .between_start_sd = 0.002}).half_width;
      EXPECT_GT(next, width);
      width = next;
    }
    width = 0;
    for (const double sd : {0.0, 0.001, 0.01, 0.1}) {
      const double next = EstimateSpeedup(rounds, {.between_start_sd = sd}).half_width;
      EXPECT_GT(next, width);
      width = next;
    }
  }
}

TEST(SpeedupProperty, MoreRoundsNarrowIt) {
  const auto mean_width = [](int rounds) {
    double sum = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      sum += EstimateSpeedup(Simulated(1, rounds, seed), {.between_start_sd = 0, .resamples = 100}).half_width;
    }
    return sum;
  };
  EXPECT_GT(mean_width(8), 1.3 * mean_width(24));
  EXPECT_GT(mean_width(24), 1.5 * mean_width(96));
}

TEST(Speedup, IsTheMedianOfTheRatios) {
  const Starts starts = {{{10, 5}, {10, 2}, {30, 10}}};
  EXPECT_DOUBLE_EQ(EstimateSpeedup(starts, {}).speedup, 3);
  EXPECT_DOUBLE_EQ(EstimateSpeedup(Starts{{{10, 5}, {80, 10}}}, {}).speedup, 4) << "in logarithms: sqrt(2 · 8)";
}

TEST(Speedup, DependsOnTheSeedAlone) {
  const Starts starts = Simulated(3, 12);
  const SpeedupEstimate a = EstimateSpeedup(starts, kCalibrated), b = EstimateSpeedup(starts, kCalibrated);
  EXPECT_EQ(a.lower, b.lower);
  EXPECT_EQ(a.standard_error, b.standard_error);
}

TEST(Speedup, OneWildRoundMovesLittle) {
  Starts starts = Simulated(3, 12);
  const SpeedupEstimate before = EstimateSpeedup(starts, kCalibrated);
  starts[1][4].candidate_us *= 50;
  const SpeedupEstimate after = EstimateSpeedup(starts, kCalibrated);
  EXPECT_NEAR(after.speedup / before.speedup, 1, 0.003);
  EXPECT_LT(after.half_width, 1.5 * before.half_width);
  EXPECT_TRUE(after.interval_stated) << after.reason;
}

TEST(Speedup, StatedErrorIsTheSpreadOfEstimates) {
  for (const Law& law : {Law{}, Law{.between = 0.5}, Law{.phi = 0.3}}) {
    for (const int starts : {1, 3, 5}) {
      Simulation simulation(3);
      const double sd = BetweenStartSd(simulation.Starts(law, 200, 24));
      double squares = 0, stated = 0;
      for (uint64_t seed = 0; seed < 400; ++seed) {
        const SpeedupEstimate e = EstimateSpeedup(simulation.Starts(law, starts, 24),
                                                  {.between_start_sd = sd, .resamples = 200, .seed = seed});
        squares += std::pow(std::log(e.speedup / kTrueSpeedup), 2);
        stated += std::pow(e.standard_error, 2);
      }
      EXPECT_NEAR(std::sqrt(squares / stated), 1, 0.25) << law.phi << " " << law.between << ", " << starts;
    }
  }
}

std::string ReasonOf(const Starts& starts, const SpeedupOptions& options) {
  return EstimateSpeedup(starts, options).reason;
}

TEST(SpeedupReason, FewRounds) {
  EXPECT_EQ(ReasonOf(Simulated(1, 5), kCalibrated), "a start has 5 rounds, an interval needs 6");
  EXPECT_EQ(ReasonOf(Simulated(1, 1), kCalibrated), "a start has 1 rounds, an interval needs 6");
  EXPECT_EQ(ReasonOf(Simulated(1, 6, 2), kCalibrated), "");
  Starts starts = Simulated(3, 8);
  starts[2].resize(2);
  EXPECT_EQ(ReasonOf(starts, {}), "a start has 2 rounds, an interval needs 6");
}

TEST(SpeedupReason, FewStartsWithoutCalibration) {
  EXPECT_THAT(ReasonOf(Simulated(1, 24), {}), HasSubstr("1 start(s) and no calibration of this host"));
  EXPECT_THAT(ReasonOf(Simulated(2, 24), {}), HasSubstr("2 start(s) and no calibration of this host"));
  EXPECT_EQ(ReasonOf(Simulated(3, 24), {}), "");
  EXPECT_EQ(ReasonOf(Simulated(1, 24), kCalibrated), "");
}

TEST(SpeedupReason, RoundsThatDoNotVary) {
  const Starts equal = {StartRounds(10, {2, 1}), StartRounds(10, {2, 1}), StartRounds(10, {2, 1})};
  EXPECT_THAT(ReasonOf(equal, {}), HasSubstr("the clock is too coarse"));
  EXPECT_THAT(ReasonOf(equal, kCalibrated), HasSubstr("the clock is too coarse"));
  EXPECT_EQ(EstimateSpeedup(equal, {}).speedup, 2);
}

TEST(SpeedupReason, Drift) {
  const std::string reason = ReasonOf(Simulated(1, 24, 1, {.drift = 8}), kCalibrated);
  EXPECT_THAT(reason, HasSubstr("the ratio drifts by -7"));
  EXPECT_THAT(reason, HasSubstr("standard errors)"));
  EXPECT_EQ(ReasonOf(Simulated(1, 24, 1, {.common_log_drift = 8}), kCalibrated), "") << "both sides: it cancels";
}

TEST(SpeedupReason, TwoStartsThatContradictTheCalibration) {
  Starts starts = Simulated(2, 12);
  for (RoundTimes& round : starts[1]) round.candidate_us *= 1.2;
  EXPECT_THAT(ReasonOf(starts, kCalibrated), HasSubstr("differ more than the calibration"));
}

TEST(Speedup, ThreeStartsThatContradictTheCalibrationSpeakForThemselves) {
  Starts starts = Simulated(3, 12);
  for (RoundTimes& round : starts[0]) round.candidate_us *= 0.8;
  for (RoundTimes& round : starts[1]) round.candidate_us *= 1.2;
  const SpeedupEstimate calibrated = EstimateSpeedup(starts, kCalibrated), own = EstimateSpeedup(starts, {});
  EXPECT_TRUE(calibrated.interval_stated) << calibrated.reason;
  EXPECT_EQ(calibrated.half_width, own.half_width);
  EXPECT_GT(calibrated.between_start_sd, 0.1);
}

TEST(BetweenStarts, FindsTheSpreadThatIsThere) {
  for (const double between : {0.5, 2.0}) {
    Simulation simulation(11);
    const double sd = BetweenStartSd(simulation.Starts({.between = between}, 400, 24));
    EXPECT_NEAR(sd / (between * kSigma), 1, 0.15) << between;
  }
  Simulation simulation(12);
  EXPECT_LT(BetweenStartSd(simulation.Starts({}, 400, 24)), 0.2 * kSigma);
}

TEST(NoiseOfRounds, IsMeasured) {
  Simulation simulation(4);
  for (const double phi : {0.0, 0.3, 0.6, 0.9}) {
    Series series;
    for (int i = 0; i < 300; ++i) {
      for (const StartRounds& start : simulation.Starts({.phi = phi}, 1, 24)) {
        std::vector<double>& logs = series.emplace_back();
        for (const RoundTimes& round : start) logs.push_back(std::log(round.baseline_us / round.candidate_us));
      }
    }
    const Noise noise = MeasureNoise(series);
    EXPECT_NEAR(noise.autocorrelation, phi, 0.06) << "the bias of short series is corrected";
    EXPECT_LT(noise.trend_significance, 3.5);
  }
}

TEST(NoiseOfRounds, VarianceOfAMean) {
  EXPECT_DOUBLE_EQ(VarianceOfMean(10, 0), 0.1);
  EXPECT_DOUBLE_EQ(VarianceOfMean(2, 0.5), 0.75);
  EXPECT_DOUBLE_EQ(VarianceOfMean(1, 0.9), 1);
}

TEST(Student, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(StudentQuantile(0.95, 1), 12.70620, 1e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 2), 4.302653, 1e-5);
  EXPECT_NEAR(StudentQuantile(0.95, 4), 2.776445, 1e-5);
  EXPECT_NEAR(StudentQuantile(0.95, 30), 2.042272, 1e-5);
  EXPECT_NEAR(StudentQuantile(0.99, 10), 3.169273, 1e-5);
  EXPECT_NEAR(StudentQuantile(0.5, 3), 0.764892, 1e-5);
  EXPECT_NEAR(StudentQuantile(0.95, 1e6), 1.959964, 1e-4);
}

TEST(Quantiles, InterpolateBetweenOrderStatistics) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(Median({7}), 7);
  EXPECT_EQ(Quantile({1, 2, 3, 4, 5}, 0.25), 2);
  EXPECT_DOUBLE_EQ(Quantile({10, 0}, 0.3), 3);
  EXPECT_EQ(Quantile({5, 1, 3}, 0), 1);
  EXPECT_EQ(Quantile({5, 1, 3}, 1), 5);
}

}  // namespace
}  // namespace touchstone

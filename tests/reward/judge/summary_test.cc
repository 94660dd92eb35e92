#include "reward/judge/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace touchstone {
namespace {

// A little noise that no test depends on, the same each time.
double Wobble(int i) { return 1 + 0.002 * std::sin(i * 12.9898); }

EvalResult Measured(double baseline_us, double candidate_us, double solo_baseline_us, double solo_candidate_us) {
  EvalResult result;
  for (int i = 0; i < 16; ++i) {
    RoundRecord window;
    window.calls = 50;
    window.baseline_us = baseline_us * Wobble(i);
    window.candidate_us = candidate_us * Wobble(i + 100);
    result.rounds.push_back(window);
  }
  for (int i = 0; i < 30; ++i) {
    RoundRecord solo;
    solo.solo = true;
    solo.calls = 1;
    solo.baseline_us = solo_baseline_us * Wobble(i + 200);
    solo.candidate_us = solo_candidate_us * Wobble(i + 300);
    result.rounds.push_back(solo);
  }
  result.baseline_alone_us = baseline_us;
  return result;
}

SummaryOptions Calibrated() {
  SummaryOptions options;
  options.between_start_sd = 0.002;
  return options;
}

bool Has(const EvalResult& result, const std::string& id) {
  for (const Evidence& evidence : result.evidence) {
    if (evidence.id == id) return true;
  }
  return false;
}

TEST(SummaryTest, AnHonestKernelGetsItsSpeedup) {
  // A single call pays 5 µs more than one in a window, on both sides.
  EvalResult result = Measured(100, 50, 105, 55);
  Summarize(Calibrated(), result);
  EXPECT_EQ(result.status, EvalStatus::kSuccess) << result.reason;
  EXPECT_NEAR(result.speedup.speedup, 2, 0.02);
  EXPECT_NEAR(result.rewarded_speedup, 2, 0.02);
  EXPECT_LT(result.rewarded_lower_bound, result.rewarded_speedup);
  EXPECT_FALSE(Has(result, "solo_bound"));
}

// V8: K calls done as one cost little in a window, but a single call shows what one call costs.
TEST(SummaryTest, BatchingOverCallsPaysNothing) {
  EvalResult result = Measured(100, 10, 105, 105);
  Summarize(Calibrated(), result);
  EXPECT_NEAR(result.speedup.speedup, 10, 0.2);
  EXPECT_LT(result.rewarded_speedup, 1.05);
  EXPECT_LT(result.rewarded_lower_bound, 1.05);
  EXPECT_TRUE(Has(result, "solo_bound"));
}

// V7: who slows the baseline while it runs beside it gains nothing.
TEST(SummaryTest, ASlowedBaselineIsUnstableAndPaysNothing) {
  EvalResult result = Measured(150, 100, 155, 105);
  result.baseline_alone_us = 100;
  Summarize(Calibrated(), result);
  EXPECT_EQ(result.status, EvalStatus::kUnstable);
  EXPECT_LT(result.rewarded_speedup, 1.02);
  EXPECT_TRUE(Has(result, "baseline_moved"));
}

// A host that got slower for good slows the baseline after the candidate, too.
TEST(SummaryTest, ADriftingHostIsNotTheCandidatesFault) {
  EvalResult result = Measured(110, 55, 115, 60);
  result.baseline_alone_us = 100;
  result.baseline_after_us = 112;
  Summarize(Calibrated(), result);
  EXPECT_EQ(result.status, EvalStatus::kSuccess) << result.reason;
  EXPECT_FALSE(Has(result, "baseline_moved"));
}

TEST(SummaryTest, ABaselineThatGotFasterIsNoGain) {
  EvalResult result = Measured(90, 45, 95, 50);
  result.baseline_alone_us = 100;
  Summarize(Calibrated(), result);
  EXPECT_EQ(result.status, EvalStatus::kSuccess) << result.reason;
  EXPECT_NEAR(result.rewarded_speedup, 2, 0.02);
}

TEST(SummaryTest, FasterThanTheFloorIsNeverRewarded) {
  EvalResult result = Measured(100, 1, 105, 6);
  result.floor_us = 2;
  Summarize(Calibrated(), result);
  EXPECT_EQ(result.status, EvalStatus::kBelowFloor);
  EXPECT_EQ(result.rewarded_speedup, 0);
}

TEST(SummaryTest, VoidRoundsDoNotCount) {
  EvalResult result = Measured(100, 50, 105, 55);
  RoundRecord disturbed;
  disturbed.baseline_us = 100'000;
  disturbed.candidate_us = 1;
  disturbed.is_void = true;
  for (int i = 0; i < 40; ++i) result.rounds.push_back(disturbed);
  Summarize(Calibrated(), result);
  EXPECT_NEAR(result.speedup.speedup, 2, 0.02);
}

TEST(SummaryTest, WithoutAnyUndisturbedRoundNothingIsSaid) {
  EvalResult result = Measured(100, 50, 105, 55);
  for (RoundRecord& round : result.rounds) round.is_void = true;
  Summarize(Calibrated(), result);
  EXPECT_EQ(result.status, EvalStatus::kUnstable);
  EXPECT_EQ(result.rewarded_speedup, 0);
}

// Sleeping at random makes the result unstable, and an unstable result is scored by its lower bound (V13).
TEST(SummaryTest, AnUnstableCandidateIsScoredByItsLowerBound) {
  EvalResult result = Measured(100, 50, 105, 55);
  for (size_t i = 0; i < 16; ++i) result.rounds[i].candidate_us *= (i % 3 == 0) ? 8 : 1;
  Summarize(Calibrated(), result);
  EXPECT_EQ(result.status, EvalStatus::kUnstable);
  EXPECT_LE(result.rewarded_speedup, result.speedup.lower);
  EXPECT_LT(result.rewarded_speedup, 2);
}

TEST(SummaryTest, PaysNothingWithoutTheBoundThatItsProfileAsksFor) {
  EvalResult result = Measured(1000, 500, 1100, 600);
  for (RoundRecord& round : result.rounds) round.is_void = round.is_void || round.solo;
  SummaryOptions options;
  options.between_start_sd = 0.001;
  options.solos_required = true;
  EvalResult control = result;
  Summarize(options, result);
  EXPECT_EQ(result.status, EvalStatus::kUnstable);
  EXPECT_EQ(result.rewarded_speedup, 0);
  options.solos_required = false;
  Summarize(options, control);
  EXPECT_EQ(control.status, EvalStatus::kSuccess);
}

TEST(SoloUpperBoundTest, NeedsSomeSolos) { EXPECT_EQ(SoloUpperBound({}, 0.95, 1), 0); }

// A true speedup of 1, seen through noise of 1 % by an estimate whose interval is ± 1.96 %.
EvalResult Draw(std::mt19937_64& random) {
  EvalResult result;
  result.status = EvalStatus::kSuccess;
  result.rewarded_speedup = std::exp(std::normal_distribution<double>(0, 0.01)(random));
  result.rewarded_lower_bound = result.rewarded_speedup * std::exp(-0.0196);
  return result;
}

// V13: a candidate that ends its attempt whenever that goes badly.
TEST(SummaryTest, ASecondAttemptIsNoSecondDraw) {
  std::mt19937_64 random(1);
  double honest = 0, unmarked = 0, marked = 0;
  constexpr int kCandidates = 4000;
  for (int i = 0; i < kCandidates; ++i) {
    const EvalResult first = Draw(random);
    honest += first.rewarded_speedup;
    EvalResult second = Draw(random);
    const bool stays = first.rewarded_speedup > 1;
    unmarked += stays ? first.rewarded_speedup : second.rewarded_speedup;
    MarkSecondAttempt("it was killed", {RoundRecord{}}, second);
    marked += stays ? first.rewarded_speedup : second.rewarded_speedup;
    EXPECT_TRUE(second.rounds.at(0).is_void);
  }
  EXPECT_GT(unmarked, honest * 1.003) << "the control: choosing would pay";
  EXPECT_LT(marked, honest);
}

TEST(SummaryTest, ASecondMeasurementEarnsNoMoreThanTheFirstAllowed) {
  EvalResult first;
  first.status = EvalStatus::kUnstable;
  first.reason = "too wide";
  first.speedup.upper = 1.5;
  first.budget_ms = {{"compile", 7}, {"measure", 100}};
  first.rounds.resize(3);
  first.rounds[1].is_void = true;
  first.rounds[1].void_reason = "late";
  EvalResult second;
  second.status = EvalStatus::kSuccess;
  second.rewarded_speedup = 2;
  second.rewarded_lower_bound = 1.9;
  second.budget_ms = {{"compile", 7}, {"measure", 50}};
  second.rounds.resize(1);
  const EvalResult both = MeasuredAgain(first, second);
  EXPECT_EQ(both.status, EvalStatus::kSuccess);
  EXPECT_EQ(both.rewarded_speedup, 1.5);
  EXPECT_EQ(both.rewarded_lower_bound, 1.5);
  EXPECT_EQ(both.budget_ms.at("compile"), 7);
  EXPECT_EQ(both.budget_ms.at("measure"), 150);
  ASSERT_EQ(both.rounds.size(), 4u);
  EXPECT_TRUE(both.rounds[0].is_void && both.rounds[2].is_void);
  EXPECT_EQ(both.rounds[1].void_reason, "late");
  EXPECT_FALSE(both.rounds[3].is_void);
  EXPECT_TRUE(Has(both, "measured_again"));

  // The honest twin: a first measurement of a noisy moment, whose interval holds what the second one finds.
  second.rewarded_speedup = 1.4;
  EXPECT_EQ(MeasuredAgain(first, second).rewarded_speedup, 1.4);
  // Nothing is known of a first measurement without an undisturbed round.
  first.speedup.upper = 0;
  EXPECT_EQ(MeasuredAgain(first, second).rewarded_speedup, 1.4);
  // An attempt that failed within the first one is still none that was chosen.
  MarkSecondAttempt("it was killed", {}, first);
  second.rewarded_lower_bound = 1.3;
  EXPECT_EQ(MeasuredAgain(first, second).rewarded_speedup, 1.3);
  EXPECT_TRUE(Has(MeasuredAgain(first, second), "second_attempt"));
  // Our failure is no verdict about the candidate.
  second.status = EvalStatus::kEnvironmentError;
  EXPECT_EQ(MeasuredAgain(first, second).status, EvalStatus::kUnstable);
}

}  // namespace
}  // namespace touchstone

#include "reward/presets/cuda_l1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace touchstone {
namespace {

using ::testing::HasSubstr;

// One round for each ratio, in order; a negative one is void.
EvalResult WithRatios(const std::vector<double>& ratios, int starts = 1) {
  EvalResult result;
  result.status = EvalStatus::kSuccess;
  result.speedup.speedup = 1;
  result.rewarded_speedup = 1;
  const size_t each = ratios.size() / static_cast<size_t>(starts);
  for (size_t i = 0; i < ratios.size(); ++i) {
    RoundRecord round;
    round.start = static_cast<int>(i / each);
    round.round = static_cast<int>(i % each);
    round.is_void = ratios[i] < 0;
    round.baseline_us = 10 * (round.is_void ? 1000 : ratios[i]);
    round.candidate_us = 10;
    result.rounds.push_back(round);
  }
  return result;
}

TEST(CudaL1, RoundsTowardOne) {
  const std::pair<double, double> rows[] = {{1.118, 1.11}, {0.992, 1.00}, {1.15, 1.15}, {1.0, 1.0},  {0.5, 0.5},
                                            {0.501, 0.51}, {0.999, 1.0},  {2.29, 2.29}, {0.57, 0.57}};
  for (const auto& [speedup, rounded] : rows) EXPECT_DOUBLE_EQ(RoundTowardOne(speedup), rounded) << speedup;
}

// Two rounds a bucket: means 1.10 1.11 1.12 1.13 1.14 1.15 1.16, their median is 1.13.
TEST(CudaL1, IsTheMedianOfTheMeansOfSevenBuckets) {
  std::vector<double> ratios;
  for (int bucket = 0; bucket < 7; ++bucket) {
    ratios.push_back(1.10 + 0.01 * bucket - 0.05);
    ratios.push_back(1.10 + 0.01 * bucket + 0.05);
  }
  const Reward reward = CudaL1Reward(WithRatios(ratios), 0);
  ASSERT_TRUE(reward.value) << reward.why_none;
  EXPECT_DOUBLE_EQ(*reward.value, 1.13);
  // 0.01² · (9 + 4 + 1 + 0 + 1 + 4 + 9) / 7
  EXPECT_NEAR(*reward.terms[1].value, 0.0004, 1e-12);
}

TEST(CudaL1, DiscardsWhatVariesTooMuch) {
  // Means 1 … 1.18 in steps of d: the variance is 4 d². d = 0.035 gives 0.0049, d = 0.036 gives 0.005184.
  for (const auto& [step, kept] : {std::pair{0.035, true}, std::pair{0.036, false}}) {
    std::vector<double> ratios;
    for (int bucket = 0; bucket < 7; ++bucket) ratios.push_back(1 + step * bucket);
    const Reward reward = CudaL1Reward(WithRatios(ratios), 0);
    EXPECT_EQ(reward.value.has_value(), kept) << step;
    if (!kept) {
      EXPECT_THAT(reward.why_none, HasSubstr("0.005"));
    }
  }
}

TEST(CudaL1, LeavesOutVoidAndSoloRounds) {
  EvalResult result = WithRatios({1.2, -1, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2});
  RoundRecord solo;
  solo.solo = true;
  solo.baseline_us = 900;
  solo.candidate_us = 1;
  result.rounds.push_back(solo);
  EXPECT_DOUBLE_EQ(*CudaL1Reward(result, 0).value, 1.2);
  EXPECT_FALSE(CudaL1Reward(WithRatios({1.2, -1, 1.2, 1.2, 1.2, 1.2, 1.2}), 0).value);  // six are not seven buckets
}

TEST(CudaL1, AsksForASecondMeasurementOfWhatIsTooGood) {
  const std::vector<double> four(14, 4.0);
  const Reward once = CudaL1Reward(WithRatios(four), 0);
  EXPECT_FALSE(once.value);
  EXPECT_THAT(once.why_none, HasSubstr("second measurement"));
  EXPECT_EQ(once.terms.back().name, "remeasurement_difference");
  EXPECT_FALSE(once.terms.back().value);

  const Reward twice = CudaL1Reward(WithRatios(four, 2), 0);
  ASSERT_TRUE(twice.value);
  EXPECT_DOUBLE_EQ(*twice.value, 4);

  // Above twice the best before counts, too.
  const std::vector<double> two(14, 2.0);
  EXPECT_TRUE(CudaL1Reward(WithRatios(two), 0).value);
  EXPECT_TRUE(CudaL1Reward(WithRatios(two), 1.0).value);
  EXPECT_FALSE(CudaL1Reward(WithRatios(two), 0.9).value);
}

// The second start is 13 % faster, and so short that the bucket means hardly vary: no other rule stops it.
TEST(CudaL1, RejectsASecondMeasurementThatDisagrees) {
  for (const auto& [second, kept] : {std::pair{3.25, true}, std::pair{3.4, false}}) {
    std::vector<double> ratios(700, 3.01);
    for (size_t i = 686; i < ratios.size(); ++i) ratios[i] = second;
    EvalResult result = WithRatios(ratios);
    for (size_t i = 686; i < ratios.size(); ++i) result.rounds[i].start = 1;
    const Reward reward = CudaL1Reward(result, 0);
    EXPECT_EQ(reward.value.has_value(), kept) << second;
    if (!kept) {
      EXPECT_THAT(reward.why_none, HasSubstr("rejected"));
    }
  }
}

// What the judge took off its estimate (V7, V8) is not given back.
TEST(CudaL1, KeepsTheBoundsOfTheJudge) {
  EvalResult result = WithRatios(std::vector<double>(14, 2.0));
  result.speedup.speedup = 2;
  result.rewarded_speedup = 1;
  EXPECT_DOUBLE_EQ(*CudaL1Reward(result, 0).value, 1.0);
}

}  // namespace
}  // namespace touchstone

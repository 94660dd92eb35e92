// What the selectors draw, against probabilities computed by hand. The seeds are fixed: a test that passes once passes
// always.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rollout/select/method.h"

namespace touchstone {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr int kDraws = 40'000;

// Member i has sequence i + 1 and a source of its own.
Pool PoolOf(const std::vector<double>& scores) {
  Pool pool;
  for (size_t i = 0; i < scores.size(); ++i) pool.Add(i + 1, scores[i], 1000 + i);
  return pool;
}

SelectionRequest Request(const std::string& selector, int count) {
  SelectionRequest request;
  request.selector = selector;
  request.count = count;
  request.bucket_width = 1;
  return request;
}

std::vector<Draw> Select(Pool& pool, const SelectionRequest& request, uint64_t seed) {
  Random random(seed, "test");
  return (*FindMethod(request.selector))->Select(pool, pool.members().size(), request, random);
}

// A share of `n` draws that comes of this probability lies within five standard deviations of it.
::testing::Matcher<double> ShareOf(double probability, int n = kDraws) {
  return DoubleNear(probability, 5 * std::sqrt(probability * (1 - probability) / n));
}

TEST(RandomTest, IsTheSameEverywhere) {
  // Of SplitMix64 with the first eight bytes of BLAKE2b-256("1:a") as its state, computed with another program.
  Random random(1, "a");
  EXPECT_EQ(random.Next(), 15561792163514532876u);
  EXPECT_EQ(random.Next(), 9653223459459360u);
  EXPECT_NE(Random(1, "b").Next(), 15561792163514532876u);
  EXPECT_NE(Random(2, "a").Next(), 15561792163514532876u);
}

TEST(RandomTest, NumbersBelowABoundAreUniform) {
  Random random(3, "");
  std::vector<int> counts(7);
  for (int i = 0; i < kDraws; ++i) ++counts[random.Below(7)];
  for (int count : counts) EXPECT_THAT(count / double{kDraws}, ShareOf(1.0 / 7));
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double unit = random.Unit();
    ASSERT_GE(unit, 0);
    ASSERT_LT(unit, 1);
    sum += unit;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
}

TEST(UniformTest, DrawsEachPairAsOften) {
  Pool pool = PoolOf({1, 2, 3, 4});
  std::map<std::pair<size_t, size_t>, int> pairs;
  for (int seed = 0; seed < kDraws; ++seed) {
    const auto draws = Select(pool, Request("uniform", 2), static_cast<uint64_t>(seed));
    ASSERT_THAT(draws, SizeIs(2));
    EXPECT_DOUBLE_EQ(draws[0].probability, 1.0 / 4);
    EXPECT_DOUBLE_EQ(draws[1].probability, 1.0 / 3);
    ++pairs[{draws[0].member, draws[1].member}];
  }
  EXPECT_THAT(pairs, SizeIs(12));
  for (const auto& [pair, count] : pairs) EXPECT_THAT(count / double{kDraws}, ShareOf(1.0 / 12));
}

TEST(TopKTest, TakesTheBestAndTheOlderOfEquals) {
  Pool pool = PoolOf({1, 5, 3, 5, 4});
  std::vector<size_t> members;
  for (const Draw& draw : Select(pool, Request("top_k", 4), 1)) {
    EXPECT_EQ(draw.probability, 1);
    members.push_back(draw.member);
  }
  EXPECT_THAT(members, ElementsAre(1, 3, 4, 2));
  EXPECT_THAT(Select(pool, Request("top_k", 9), 1), SizeIs(5));
}

// Three buckets: {1.0, 1.5}, {2.2}, {3.1, 3.3, 3.5}, with the means 1.25, 2.2, 3.3. At τ = 1 their weights are
// e^(1.25 − 3.3) = 0.1287349, e^(2.2 − 3.3) = 0.3328711 and 1; their sum is 1.4616060.
class CudaL1Test : public ::testing::Test {
 protected:
  Pool pool_ = PoolOf({3.1, 1.0, 2.2, 3.3, 1.5, 3.5});
  static int BucketOf(size_t member) { return std::vector<int>{3, 1, 2, 3, 1, 3}[member]; }
};

TEST_F(CudaL1Test, BucketsComeWithTheProbabilitiesOfEquation1) {
  constexpr double kFirst[] = {0, 0.0880777, 0.2277434, 0.6841789};
  // The second one, given the first.
  constexpr double kSecond[4][4] = {{},
                                    {0, 0, 0.2497399, 0.7502601},   // 0.3328711 / 1.3328711
                                    {0, 0.1140524, 0, 0.8859476},   // 0.1287349 / 1.1287349
                                    {0, 0.2788848, 0.7211152, 0}};  // 0.1287349 / 0.4616060
  constexpr double kSizes[] = {0, 2, 1, 3};
  std::vector<int> first(6);
  std::map<std::pair<int, int>, int> pairs;
  for (int seed = 0; seed < kDraws; ++seed) {
    const auto draws = Select(pool_, Request("cuda_l1", 2), static_cast<uint64_t>(seed));
    ASSERT_THAT(draws, SizeIs(2));
    const int a = BucketOf(draws[0].member);
    const int b = BucketOf(draws[1].member);
    ASSERT_NE(a, b);
    EXPECT_NEAR(draws[0].probability, kFirst[a] / kSizes[a], 1e-7);
    EXPECT_NEAR(draws[1].probability, kSecond[a][b] / kSizes[b], 1e-7);
    ++first[draws[0].member];
    ++pairs[{a, b}];
  }
  for (size_t member = 0; member < 6; ++member) {
    const int bucket = BucketOf(member);
    EXPECT_THAT(first[member] / double{kDraws}, ShareOf(kFirst[bucket] / kSizes[bucket])) << member;
  }
  for (const auto& [pair, count] : pairs) {
    EXPECT_THAT(count / double{kDraws}, ShareOf(kFirst[pair.first] * kSecond[pair.first][pair.second]));
  }
}

TEST_F(CudaL1Test, TemperatureFlattens) {
  // τ = 10: weights 0.8146473, 0.8958341, 1; sum 2.7104814.
  SelectionRequest request = Request("cuda_l1", 1);
  request.temperature = 10;
  std::vector<int> buckets(4);
  for (int seed = 0; seed < kDraws; ++seed) ++buckets[BucketOf(Select(pool_, request, seed).at(0).member)];
  EXPECT_THAT(buckets[1] / double{kDraws}, ShareOf(0.3005545));
  EXPECT_THAT(buckets[2] / double{kDraws}, ShareOf(0.3305074));
  EXPECT_THAT(buckets[3] / double{kDraws}, ShareOf(0.3689382));
}

TEST_F(CudaL1Test, AColdTemperatureTakesTheBestBucketAndThenTheNextOne) {
  SelectionRequest request = Request("cuda_l1", 3);
  request.temperature = 1e-6;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto draws = Select(pool_, request, seed);
    ASSERT_THAT(draws, SizeIs(3));
    EXPECT_EQ(BucketOf(draws[0].member), 3);
    EXPECT_EQ(BucketOf(draws[1].member), 2);
    EXPECT_EQ(BucketOf(draws[2].member), 1);
  }
}

TEST_F(CudaL1Test, TopsUpFromTheBucketsAgainButNeverTwiceTheSame) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto draws = Select(pool_, Request("cuda_l1", 10), seed);
    ASSERT_THAT(draws, SizeIs(6));
    std::set<size_t> members;
    for (const Draw& draw : draws) members.insert(draw.member);
    EXPECT_THAT(members, SizeIs(6));
    std::set<int> round;
    for (size_t i = 0; i < 3; ++i) round.insert(BucketOf(draws[i].member));
    EXPECT_THAT(round, SizeIs(3)) << "the first round has every bucket";
    EXPECT_DOUBLE_EQ(draws[5].probability, 1) << "nothing else is left";
  }
}

TEST_F(CudaL1Test, OneBucketGivesTwoDifferentOnes) {
  Pool pool = PoolOf({1.1, 1.2, 1.3});
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto draws = Select(pool, Request("cuda_l1", 2), seed);
    ASSERT_THAT(draws, SizeIs(2));
    EXPECT_NE(draws[0].member, draws[1].member);
    EXPECT_DOUBLE_EQ(draws[0].probability, 1.0 / 3);
    EXPECT_DOUBLE_EQ(draws[1].probability, 1.0 / 2);
  }
}

TEST_F(CudaL1Test, ScoresOfAnySizeAreDrawn) {
  Pool pool = PoolOf({0, 1e300, 5e-324, 1e18});
  SelectionRequest request = Request("cuda_l1", 4);
  request.bucket_width = 1e-3;
  EXPECT_THAT(Select(pool, request, 1), SizeIs(4));
}

TEST(PoolTest, ASourceThatIsThereAddsNothing) {
  Pool pool;
  pool.Add(1, 1.0, 7);
  pool.Add(2, 9.0, 7);
  pool.Add(3, 2.0, 8);
  ASSERT_THAT(pool.members(), SizeIs(2));
  EXPECT_EQ(pool.members()[0].score, 1.0);
  EXPECT_EQ(pool.CountUntil(0), 0u);
  EXPECT_EQ(pool.CountUntil(2), 1u);
  EXPECT_EQ(pool.CountUntil(3), 2u);
}

TEST(PoolTest, ABeginningDrawsAsThePoolDidThen) {
  Pool grown;
  for (size_t i = 0; i < 300; ++i) {
    const double score = static_cast<double>(i * 7919 % 100) / 10;
    grown.Add(i + 1, score, i);
    (void)grown.BucketsOf(1);  // followed from the beginning
  }
  Pool young;
  for (size_t i = 0; i < 120; ++i) young.Add(i + 1, static_cast<double>(i * 7919 % 100) / 10, i);
  for (const char* selector : {"uniform", "top_k", "cuda_l1"}) {
    const SelectionRequest request = Request(selector, 5);
    for (uint64_t seed = 0; seed < 50; ++seed) {
      Random a(seed, "");
      Random b(seed, "");
      const auto then = (*FindMethod(selector))->Select(young, 120, request, a);
      const auto now = (*FindMethod(selector))->Select(grown, 120, request, b);
      ASSERT_EQ(then.size(), now.size());
      for (size_t i = 0; i < then.size(); ++i) {
        EXPECT_EQ(then[i].member, now[i].member) << selector;
        EXPECT_EQ(then[i].probability, now[i].probability) << selector;
      }
    }
  }
}

TEST(SelectionMethodTest, AnEmptyPoolGivesNothing) {
  Pool pool;
  for (const char* selector : {"uniform", "top_k", "cuda_l1"}) {
    EXPECT_TRUE(Select(pool, Request(selector, 2), 1).empty()) << selector;
  }
}

}  // namespace
}  // namespace touchstone

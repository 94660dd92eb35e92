#include "reward/judge/generator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/minifloat.h"

namespace touchstone {
namespace {

InputStream Stream(Distribution::Family family, double low, double high, uint64_t count,
                   DType dtype = DType::kFloat32) {
  InputStream stream;
  stream.key = DeriveStreamKey(SecretKey{1, 2, 3}, StreamPurpose::kInput, 7, 0);
  stream.dtype = dtype;
  stream.distribution.family = family;
  stream.distribution.low = low;
  stream.distribution.high = high;
  stream.count = count;
  return stream;
}

std::vector<float> Floats(const InputStream& stream) {
  std::vector<float> values(stream.count);
  Generate(stream, 0, stream.count, values.data());
  return values;
}

// Known answers of Philox4x32-10, from the test vectors that its authors publish (counter and key all zero, all ones).
TEST(GeneratorTest, PhiloxGivesTheKnownAnswer) {
  std::array<uint32_t, 4> words{};
  GenerateBytes(StreamKey{}, 0, 16, reinterpret_cast<std::byte*>(words.data()));
  EXPECT_EQ(words, (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(GeneratorTest, UniformHasTheMomentsAndTheRange) {
  const auto values = Floats(Stream(Distribution::Family::kUniform, -2, 6, 1 << 20));
  double sum = 0;
  double squares = 0;
  for (const float v : values) {
    ASSERT_GE(v, -2.0F);
    ASSERT_LT(v, 6.0F);
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const double mean = sum / static_cast<double>(values.size());
  EXPECT_NEAR(mean, 2.0, 0.01);
  EXPECT_NEAR(squares / static_cast<double>(values.size()) - mean * mean, 64.0 / 12, 0.02);
}

// Kolmogorov–Smirnov against the exact normal distribution.
TEST(GeneratorTest, NormalIsNormal) {
  auto values = Floats(Stream(Distribution::Family::kNormal, 1, 2, 1 << 20));
  std::sort(values.begin(), values.end());
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = 0.5 * std::erfc(-(values[i] - 1.0) / 2.0 / std::sqrt(2.0));
    worst = std::max(worst, std::fabs(expected - (static_cast<double>(i) + 0.5) / static_cast<double>(values.size())));
  }
  EXPECT_LT(worst, 1.95 / std::sqrt(static_cast<double>(values.size())));  // p = 0.001
  EXPECT_LT(values.front(), 1 - 2 * 4.5F);
  EXPECT_GT(values.back(), 1 + 2 * 4.5F);
}

TEST(GeneratorTest, AnyPartIsTheSameAsInTheWhole) {
  for (const auto family : {Distribution::Family::kUniform, Distribution::Family::kNormal}) {
    const InputStream stream = Stream(family, 0, 1, 20'000);
    const auto whole = Floats(stream);
    for (const uint64_t first : {1ULL, 4095ULL, 4096ULL, 9999ULL}) {
      std::vector<float> part(5001);
      Generate(stream, first, part.size(), part.data());
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<long>(first))) << first;
    }
  }
}

TEST(GeneratorTest, IntegersCoverTheirRangeAndNoMore) {
  const InputStream stream = Stream(Distribution::Family::kInteger, -3, 4, 10'000, DType::kInt64);
  std::vector<int64_t> values(stream.count);
  Generate(stream, 0, stream.count, values.data());
  const std::set<int64_t> seen(values.begin(), values.end());
  EXPECT_EQ(seen, (std::set<int64_t>{-3, -2, -1, 0, 1, 2, 3}));
}

TEST(GeneratorTest, PermutationsArePermutations) {
  InputStream stream = Stream(Distribution::Family::kPermutation, 0, 0, 3 * 257, DType::kInt32);
  stream.row_length = 257;
  std::vector<int32_t> values(stream.count);
  Generate(stream, 0, stream.count, values.data());
  for (int row = 0; row < 3; ++row) {
    std::set<int32_t> seen(values.begin() + row * 257, values.begin() + (row + 1) * 257);
    EXPECT_EQ(seen.size(), 257u);
    EXPECT_EQ(*seen.rbegin(), 256);
  }
  EXPECT_FALSE(std::equal(values.begin(), values.begin() + 257, values.begin() + 257));
}

TEST(GeneratorTest, CallsTensorsAndSecretsHaveStreamsOfTheirOwn) {
  const SecretKey a{1};
  const SecretKey b{2};
  std::set<StreamKey> keys;
  for (uint64_t call = 0; call < 4; ++call) {
    for (uint32_t tensor = 0; tensor < 4; ++tensor) {
      keys.insert(DeriveStreamKey(a, StreamPurpose::kInput, call, tensor));
      keys.insert(DeriveStreamKey(a, StreamPurpose::kPoison, call, tensor));
      keys.insert(DeriveStreamKey(b, StreamPurpose::kInput, call, tensor));
    }
  }
  EXPECT_EQ(keys.size(), 48u);
}

TEST(GeneratorTest, ZerosAreStrewnInTheirShare) {
  InputStream stream = Stream(Distribution::Family::kNormal, 0, 1, 100'000);
  stream.distribution.zero_share = 0.25;
  const auto values = Floats(stream);
  EXPECT_NEAR(static_cast<double>(std::count(values.begin(), values.end(), 0.0F)), 25'000, 1000);
}

TEST(MinifloatTest, EveryValueSurvivesARoundTrip) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3, DType::kFloat8E5M2}) {
    const uint32_t count = 1U << (8 * SizeOf(dtype));
    for (uint32_t bits = 0; bits < count; ++bits) {
      const float value = DecodeMinifloat(dtype, bits);
      if (std::isnan(value)) continue;
      ASSERT_EQ(EncodeMinifloat(dtype, value), bits) << ToString(dtype) << " " << bits;
    }
  }
}

TEST(MinifloatTest, RoundsHalfToEvenAndOverflows) {
  EXPECT_EQ(EncodeMinifloat(DType::kFloat16, 1.0F + 0x1p-11F), 0x3C00u);
  EXPECT_EQ(EncodeMinifloat(DType::kFloat16, 1.0F + 3 * 0x1p-11F), 0x3C02u);
  EXPECT_EQ(EncodeMinifloat(DType::kFloat16, 65520.0F), 0x7C00u);
  EXPECT_EQ(EncodeMinifloat(DType::kFloat16, 65519.0F), 0x7BFFu);
  EXPECT_EQ(EncodeMinifloat(DType::kFloat8E4M3, 448.0F), 0x7Eu);
  EXPECT_EQ(EncodeMinifloat(DType::kFloat8E4M3, 480.0F), 0x7Fu);
}

}  // namespace
}  // namespace touchstone

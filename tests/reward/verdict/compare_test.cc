#include "reward/verdict/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace touchstone {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kDoubleInf = std::numeric_limits<double>::infinity();

template <typename T>
CompareReport Same(DType dtype, const std::vector<T>& x, const std::vector<T>& o, Tolerance tolerance = {}) {
  return Compare(dtype, x.data(), dtype, o.data(), x.size(), tolerance);
}

template <typename T>
CompareReport Oracle(DType dtype, const std::vector<T>& x, const std::vector<double>& o, Tolerance tolerance = {}) {
  return Compare(dtype, x.data(), DType::kFloat64, o.data(), x.size(), tolerance);
}

CompareReport Floats(const std::vector<float>& x, const std::vector<float>& o, Tolerance tolerance = {}) {
  return Same(DType::kFloat32, x, o, tolerance);
}

TEST(Compare, AnEmptyArrayPasses) {
  const CompareReport report = Floats({}, {});
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.count, 0u);
  EXPECT_EQ(report.rms_error, 0);
}

TEST(Compare, MagnitudesAreThoseOfTheWorstElements) {
  const CompareReport report = Floats({1, 2.5f, -3, 0.5f}, {1, 2, -4, 0}, {.rtol = 0.3});
  EXPECT_EQ(report.count, 4u);
  EXPECT_EQ(report.mismatches, 1u);  // any error at an expected 0 is too much without atol
  EXPECT_EQ(report.first_mismatch, 3u);
  EXPECT_EQ(report.max_abs, 1);
  EXPECT_EQ(report.max_rel, 0.25);
  EXPECT_DOUBLE_EQ(report.rms_error, std::sqrt(1.5 / 4));
  EXPECT_DOUBLE_EQ(report.rms_expected, std::sqrt(21.0 / 4));
}

TEST(Compare, ToleranceIsScaledByTheExpectedSideAlone) {
  EXPECT_FALSE(Floats({1e9f}, {1}, {.rtol = 0.5}).passed());
  EXPECT_FALSE(Floats({0}, {1}, {.rtol = 0.5}).passed());
  EXPECT_TRUE(Floats({1.5f}, {1}, {.rtol = 0.5}).passed());
  EXPECT_FALSE(Floats({std::nextafter(1.5f, 2.0f)}, {1}, {.rtol = 0.5}).passed());
  EXPECT_TRUE(Floats({0.25f}, {0}, {.atol = 0.25}).passed());
}

TEST(Compare, NonFiniteMasksComeFirst) {
  const Tolerance huge{.rtol = 1e30, .atol = 1e300};
  for (const auto& [x, o] :
       {std::pair{kNan, 1.0f}, {1.0f, kNan}, {kInf, 1.0f}, {1.0f, kInf}, {kInf, -kInf}, {kNan, kInf}, {kInf, kNan}}) {
    const CompareReport report = Floats({1, x, 1}, {1, o, 1}, huge);
    EXPECT_EQ(report.mismatches, 1u) << x << " " << o;
    EXPECT_EQ(report.nonfinite_mismatches, 1u);
    EXPECT_EQ(report.first_mismatch, 1u);
  }
  const CompareReport same = Floats({kNan, kInf, -kInf, 2}, {-kNan, kInf, -kInf, 2});
  EXPECT_TRUE(same.passed());
  EXPECT_EQ(same.rms_expected, 2) << "only elements finite on both sides count";
}

TEST(Compare, FirstMismatchIsFoundInAnyOrderOfKinds) {
  std::vector<float> x(3000, 1), o(3000, 1);
  x[1700] = kNan;
  EXPECT_EQ(Floats(x, o).first_mismatch, 1700u);
  x[1699] = 2;
  EXPECT_EQ(Floats(x, o).first_mismatch, 1699u);
  x[1699] = 1;
  x[1701] = 2;
  EXPECT_EQ(Floats(x, o).first_mismatch, 1700u);
  EXPECT_EQ(Floats(x, o).mismatches, 2u);
  x[1] = 2;
  EXPECT_EQ(Floats(x, o).first_mismatch, 1u);
}

TEST(Compare, OneWrongElementIsFoundAtEveryPlace) {
  for (const size_t n : {1, 2, 3, 4, 5, 511, 512, 513, 1030}) {
    std::vector<float> x(n, 1), o(n, 1);
    for (size_t i = 0; i < n; ++i) {
      x[i] = 1 + std::numeric_limits<float>::epsilon();
      const CompareReport report = Floats(x, o);
      ASSERT_EQ(report.mismatches, 1u) << n << " " << i;
      ASSERT_EQ(report.first_mismatch, i);
      x[i] = 1;
    }
  }
}

TEST(Compare, RmsCatchesWhatEveryElementHides) {
  const std::vector<float> o(100, 1), x(100, 1.01f);
  const CompareReport report = Floats(x, o, {.rtol = 0.02, .rms = 0.005});
  EXPECT_EQ(report.mismatches, 0u);
  EXPECT_TRUE(report.rms_exceeded);
  EXPECT_FALSE(report.passed());
  EXPECT_TRUE(Floats(x, o, {.rtol = 0.02, .rms = 0.02}).passed());
}

TEST(Compare, IntegersAreExactInAll64Bits) {
  const int64_t big = (int64_t{1} << 53) + 1;
  EXPECT_TRUE(Same<int64_t>(DType::kInt64, {big}, {big}).passed());
  EXPECT_FALSE(Same<int64_t>(DType::kInt64, {big}, {big - 1}).passed());
  EXPECT_FALSE(Oracle<int64_t>(DType::kInt64, {big}, {0x1p53}).passed());
  EXPECT_TRUE(Oracle<int64_t>(DType::kInt64, {big - 1}, {0x1p53}).passed());
  const auto least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Same<int64_t>(DType::kInt64, {least}, {most}).max_abs, 0x1p64);
  EXPECT_TRUE(Same<int64_t>(DType::kInt64, {7}, {8}, {.atol = 1}).passed());
  EXPECT_FALSE(Same<int64_t>(DType::kInt64, {7}, {9}, {.atol = 1}).passed());
  EXPECT_FALSE(Oracle<int32_t>(DType::kInt32, {7}, {std::nan("")}, {.atol = 100}).passed());
}

TEST(Compare, ABooleanOfTwoIsNotTrue) {
  EXPECT_TRUE(Same<uint8_t>(DType::kBool, {0, 1}, {0, 1}).passed());
  EXPECT_FALSE(Same<uint8_t>(DType::kBool, {0, 2}, {0, 1}).passed());
}

TEST(Compare, SmallFloatsAreDecodedExactly) {
  // 1, the smallest subnormal, the largest finite value.
  EXPECT_TRUE(Oracle<uint16_t>(DType::kFloat16, {0x3c00, 0x8001, 0x7bff}, {1, -0x1p-24, 65504}).passed());
  EXPECT_TRUE(Oracle<uint16_t>(DType::kBFloat16, {0x3f80, 0x8001, 0x7f7f}, {1, -0x1p-133, 0x1.fep127}).passed());
  EXPECT_TRUE(Oracle<uint8_t>(DType::kFloat8E4M3, {0x38, 0x81, 0x7e}, {1, -0x1p-9, 448}).passed());
  EXPECT_TRUE(Oracle<uint8_t>(DType::kFloat8E5M2, {0x3c, 0x81, 0x7b}, {1, -0x1p-16, 57344}).passed());
  EXPECT_TRUE(Oracle<uint16_t>(DType::kFloat16, {0x7c00, 0xfc00, 0x7e01}, {kDoubleInf, -kDoubleInf, NAN}).passed());
  EXPECT_TRUE(Oracle<uint8_t>(DType::kFloat8E4M3, {0x7f, 0xff}, {NAN, NAN}).passed());
  EXPECT_FALSE(Oracle<uint8_t>(DType::kFloat8E4M3, {0x7f}, {kDoubleInf}).passed());
}

TEST(Compare, TheInfinityThatRoundingGivesIsRight) {
  EXPECT_TRUE(Oracle<uint16_t>(DType::kFloat16, {0x7c00, 0xfc00}, {65520, -1e9}).passed());
  EXPECT_FALSE(Oracle<uint16_t>(DType::kFloat16, {0x7c00}, {65519.99}).passed());
  EXPECT_FALSE(Oracle<uint16_t>(DType::kFloat16, {0xfc00}, {1e9}).passed()) << "the sign counts";
  EXPECT_TRUE(Oracle<uint8_t>(DType::kFloat8E4M3, {0x7f}, {464.001}).passed());
  EXPECT_FALSE(Oracle<uint8_t>(DType::kFloat8E4M3, {0x7f}, {464}).passed());
  EXPECT_TRUE(Oracle<float>(DType::kFloat32, {kInf}, {1e39}).passed());
  EXPECT_FALSE(Oracle<float>(DType::kFloat32, {kNan}, {1e39}).passed());
}

TEST(Compare, MagnitudesBeyondADoubleSaturate) {
  const double largest = std::numeric_limits<double>::max();
  const CompareReport report = Same<double>(DType::kFloat64, {largest, 1}, {-largest, 1});
  EXPECT_EQ(report.mismatches, 1u);
  EXPECT_EQ(report.nonfinite_mismatches, 0u);
  EXPECT_EQ(report.max_abs, largest);
  EXPECT_EQ(report.max_rel, largest);
  EXPECT_DOUBLE_EQ(report.rms_expected, largest / std::sqrt(2));
  const CompareReport tiny = Same<double>(DType::kFloat64, {3e-200}, {1e-200}, {.rms = 1});
  EXPECT_DOUBLE_EQ(tiny.rms_error, 2e-200);
  EXPECT_DOUBLE_EQ(tiny.rms_expected, 1e-200);
  EXPECT_TRUE(tiny.rms_exceeded);
}

TEST(Compare, NeedsNoAlignment) {
  std::vector<unsigned char> x(4 * 10 + 1), o(8 * 10 + 3);
  for (int i = 0; i < 10; ++i) {
    const float value = static_cast<float>(i);
    const double expected = i;
    std::memcpy(x.data() + 1 + 4 * i, &value, 4);
    std::memcpy(o.data() + 3 + 8 * i, &expected, 8);
  }
  EXPECT_TRUE(Compare(DType::kFloat32, x.data() + 1, DType::kFloat64, o.data() + 3, 10, {}).passed());
}

TEST(Compare, PartsMakeTheReportOnTheWhole) {
  const std::vector<float> x = {1, 2, 3, 4, kNan, 6, 7}, o = {1, 2, 3, 5, 1, 6, 9};
  const CompareReport whole = Floats(x, o);
  for (size_t cut = 0; cut <= x.size(); ++cut) {
    const auto part = [&](size_t first, size_t end) {
      return Compare(DType::kFloat32, x.data() + first, DType::kFloat32, o.data() + first, end - first, {});
    };
    const CompareReport joined = ReportOnWhole(part(0, cut), part(cut, x.size()));
    EXPECT_EQ(joined.count, whole.count) << cut;
    EXPECT_EQ(joined.mismatches, whole.mismatches) << cut;
    EXPECT_EQ(joined.nonfinite_mismatches, whole.nonfinite_mismatches) << cut;
    EXPECT_EQ(joined.first_mismatch, whole.first_mismatch) << cut;
    EXPECT_EQ(joined.max_abs, whole.max_abs) << cut;
    EXPECT_EQ(joined.max_rel, whole.max_rel) << cut;
  }
  // Without an element that is left out of the mean, that is exact, too; also where a square leaves the doubles.
  const std::vector<double> y = {1e200, 3e200, 0}, p = {0, 0, 0};
  const CompareReport both =
      ReportOnWhole(Same<double>(DType::kFloat64, {1e200}, {0}), Same<double>(DType::kFloat64, {3e200, 0}, {0, 0}));
  EXPECT_DOUBLE_EQ(both.rms_error, Same(DType::kFloat64, y, p).rms_error);
}

TEST(Compare, TheWorstOfTwoOutputs) {
  const CompareReport fine = Floats({1, 2}, {1, 2}), wrong = Floats({1, 3, 5}, {1, 2, 5});
  for (const CompareReport& both : {WorstOf(fine, wrong), WorstOf(wrong, fine)}) {
    EXPECT_EQ(both.count, 5u);
    EXPECT_EQ(both.mismatches, 1u);
    EXPECT_EQ(both.first_mismatch, 1u);
    EXPECT_EQ(both.max_abs, 1);
    EXPECT_EQ(both.rms_error, wrong.rms_error);
    EXPECT_FALSE(both.passed());
  }
}

}  // namespace
}  // namespace touchstone

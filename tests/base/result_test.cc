#include "base/result.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace touchstone {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Error(ErrorCode::kInvalidArgument, "odd");
  return n / 2;
}

Result<int> Quarter(int n) {
  TOUCHSTONE_ASSIGN(const int half, Half(n));
  return Half(half);
}

TEST(ResultTest, CarriesTheValue) {
  EXPECT_TRUE(Quarter(12).ok());
  EXPECT_EQ(*Quarter(12), 3);
}

TEST(ResultTest, CarriesTheFirstError) {
  EXPECT_EQ(Quarter(6).error().ToString(), "invalid_argument: odd");
  EXPECT_EQ(Quarter(6).error().Within("halving").message(), "halving: odd");
}

// A loop over a temporary's value once read freed memory: value() of a temporary gave a reference into it.
TEST(ResultTest, ATemporarysValueOutlivesIt) {
  const auto digits = [] { return Result<std::vector<int>>(std::vector<int>{1, 2, 3}); };
  static_assert(!std::is_reference_v<decltype(digits().value())>);
  int sum = 0;
  for (const int digit : digits().value()) sum += digit;
  EXPECT_EQ(sum, 6);
}

TEST(ResultDeathTest, ValueOfAnErrorIsABrokenInvariant) { EXPECT_DEATH((void)Half(1).value(), "odd"); }

}  // namespace
}  // namespace touchstone

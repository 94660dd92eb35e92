#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "reward/task/task.h"

namespace touchstone {
namespace {

const DimValues kDims = {{"n", 7}, {"rows", 100}, {"big", int64_t{1} << 40}};

int64_t Value(const std::string& expression) {
  const auto value = Evaluate(expression, kDims);
  EXPECT_TRUE(value.ok()) << expression << ": " << value.error().ToString();
  return value.ok() ? *value : -999;
}

std::string Complaint(const std::string& expression) {
  const auto value = Evaluate(expression, kDims);
  EXPECT_FALSE(value.ok()) << expression;
  return value.ok() ? "" : value.error().message();
}

TEST(Expression, FollowsTheUsualPrecedence) {
  EXPECT_EQ(Value("1 + 2 * 3"), 7);
  EXPECT_EQ(Value("(1 + 2) * 3"), 9);
  EXPECT_EQ(Value("10 - 2 - 3"), 5);
  EXPECT_EQ(Value("100 / 5 / 2"), 10);
  EXPECT_EQ(Value("2 * n + rows % 8"), 18);
  EXPECT_EQ(Value("--n"), 7);
  EXPECT_EQ(Value("-n * -2"), 14);
  EXPECT_EQ(Value("n"), 7);
}

TEST(Expression, DivisionRoundsDownAndTheRestHasTheSignOfTheDivisor) {
  EXPECT_EQ(Value("7 / 2"), 3);
  EXPECT_EQ(Value("-7 / 2"), -4);
  EXPECT_EQ(Value("7 / -2"), -4);
  EXPECT_EQ(Value("-7 % 3"), 2);
  EXPECT_EQ(Value("7 % -3"), -2);
  EXPECT_EQ(Value("(n + 3) / 4 * 4"), 8);
  EXPECT_EQ(Value("7 % -1"), 0);
}

TEST(Expression, NamesWhatIsWrongAndWhere) {
  EXPECT_THAT(Complaint("n +"), ::testing::HasSubstr("ends where"));
  EXPECT_THAT(Complaint("m + 1"), ::testing::HasSubstr("no dim 'm'"));
  EXPECT_THAT(Complaint("n / (n - 7)"), ::testing::HasSubstr("division by zero"));
  EXPECT_THAT(Complaint("n % 0"), ::testing::HasSubstr("division by zero"));
  EXPECT_THAT(Complaint("(n"), ::testing::HasSubstr("')' expected"));
  EXPECT_THAT(Complaint("n 1"), ::testing::HasSubstr("column 3"));
  EXPECT_THAT(Complaint(""), ::testing::HasSubstr("ends where"));
  EXPECT_THAT(Complaint("n $ 2"), ::testing::HasSubstr("unexpected '$'"));
}

TEST(Expression, NeverOverflows) {
  EXPECT_THAT(Complaint("big * big"), ::testing::HasSubstr("64 bits"));
  EXPECT_THAT(Complaint("9223372036854775807 + 1"), ::testing::HasSubstr("64 bits"));
  EXPECT_THAT(Complaint("-9223372036854775807 - 2"), ::testing::HasSubstr("64 bits"));
  EXPECT_THAT(Complaint("9223372036854775808"), ::testing::HasSubstr("64 bits"));
  EXPECT_THAT(Complaint("(-9223372036854775807 - 1) / -1"), ::testing::HasSubstr("64 bits"));
  EXPECT_EQ(Value("-9223372036854775807 - 1"), std::numeric_limits<int64_t>::min());
}

TEST(Expression, RefusesDepthAndLength) {
  EXPECT_THAT(Complaint(std::string(100, '(') + "1" + std::string(100, ')')), ::testing::HasSubstr("nested deeper"));
  EXPECT_THAT(Complaint(std::string(200, '-') + "1"), ::testing::HasSubstr("nested deeper"));
  EXPECT_THAT(Complaint("1" + std::string(100'000, ' ')), ::testing::HasSubstr("longer than the limit"));
}

// Random texts over the grammar's own characters: an answer or an error, nothing else.
TEST(Expression, SurvivesRandomTexts) {
  std::mt19937 random(1);
  const std::string letters = "n019+-*/%() rows";
  int values = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 12, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    values += Evaluate(text, kDims).ok() ? 1 : 0;
  }
  EXPECT_GT(values, 100);
}

}  // namespace
}  // namespace touchstone

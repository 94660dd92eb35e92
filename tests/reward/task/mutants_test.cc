#include "reward/task/mutants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace touchstone {
namespace {

using ::testing::ElementsAre;

template <typename T>
TensorData Tensor(DType dtype, std::vector<int64_t> dims, const std::vector<T>& values) {
  TensorData data{dtype, std::move(dims), std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(data.bytes.data(), values.data(), data.bytes.size());
  return data;
}

template <typename T>
std::vector<T> Values(const TensorData& data) {
  std::vector<T> values(data.bytes.size() / sizeof(T));
  std::memcpy(values.data(), data.bytes.data(), data.bytes.size());
  return values;
}

TensorData Named(const std::vector<Mutant>& mutants, const std::string& name) {
  for (const Mutant& mutant : mutants) {
    if (mutant.name == name) return mutant.output;
  }
  ADD_FAILURE() << "no mutant " << name;
  return {};
}

TEST(Mutants, OfAFloatMatrix) {
  const TensorData right = Tensor<float>(DType::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6.0001F});
  const TensorData previous = Tensor<float>(DType::kFloat32, {3, 2}, {9, 9, 9, 9, 9, 9});
  const TensorData input = Tensor<float>(DType::kFloat32, {6}, {0, 1, 0, 1, 0, 1});
  const auto mutants = MakeMutants(right, previous, {{"x", input}});
  EXPECT_THAT(Values<float>(Named(mutants, "zeros")), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_NEAR(Values<float>(Named(mutants, "constant"))[3], 3.5, 1e-3);
  EXPECT_THAT(Values<float>(Named(mutants, "input x")), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_EQ(Named(mutants, "previous").bytes, previous.bytes);
  EXPECT_THAT(Values<float>(Named(mutants, "rotated_rows")), ElementsAre(3, 4, 5, 6.0001F, 1, 2));
  EXPECT_THAT(Values<float>(Named(mutants, "swapped_rows")), ElementsAre(5, 6.0001F, 3, 4, 1, 2));
  EXPECT_THAT(Values<float>(Named(mutants, "one_element")), ElementsAre(1, 2, 3, 3, 5, 6.0001F));
  EXPECT_THAT(Values<float>(Named(mutants, "last_element")), ElementsAre(1, 2, 3, 4, 5, 9));
  EXPECT_TRUE(std::isnan(Values<float>(Named(mutants, "nan"))[2]));
  EXPECT_THAT(Values<float>(Named(mutants, "float16")), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Mutants, OfAnIntegerVector) {
  const TensorData right = Tensor<int64_t>(DType::kInt64, {4}, {7, 7, 7, 1});
  const TensorData previous = Tensor<int64_t>(DType::kInt64, {4}, {1, 2, 3, 4});
  const auto mutants = MakeMutants(right, previous, {});
  EXPECT_THAT(Values<int64_t>(Named(mutants, "constant")), ElementsAre(7, 7, 7, 7));
  EXPECT_THAT(Values<int64_t>(Named(mutants, "rotated_rows")), ElementsAre(7, 7, 1, 7));
  EXPECT_THAT(Values<int64_t>(Named(mutants, "swapped_rows")), ElementsAre(1, 7, 7, 7));
  EXPECT_THAT(Values<int64_t>(Named(mutants, "one_element")), ElementsAre(7, 7, 6, 1));
  for (const Mutant& mutant : mutants) EXPECT_NE(mutant.name, "float16");
}

// The coarser type of sixteen bits is the other one, or eight.
TEST(Mutants, OfSixteenBits) {
  const std::vector<uint16_t> halves = {0x3c00, 0x3c01, 0xc000, 0x4900};  // 1, 1 + 2^-10, -2, 10
  const TensorData right = Tensor<uint16_t>(DType::kFloat16, {2, 2}, halves);
  const auto mutants = MakeMutants(right, right, {});
  EXPECT_THAT(Values<uint16_t>(Named(mutants, "bfloat16")), ElementsAre(0x3c00, 0x3c00, 0xc000, 0x4900));
  EXPECT_EQ(Values<uint16_t>(Named(mutants, "constant"))[0], 0x4100) << "the mean, 2.5";
  EXPECT_GT(Values<uint16_t>(Named(mutants, "nan"))[1], 0x7c00);
  EXPECT_EQ(Values<uint16_t>(Named(mutants, "one_element"))[2], 0x3c01);
  const TensorData wide = Tensor<uint16_t>(DType::kBFloat16, {2}, {0x3f80, 0x3f81});  // 1, 1 + 2^-7
  EXPECT_THAT(Values<uint16_t>(Named(MakeMutants(wide, wide, {}), "float8_e4m3fn")), ElementsAre(0x3f80, 0x3f80));
  EXPECT_EQ(LowerPrecision(DType::kFloat8E4M3), std::nullopt);
  EXPECT_EQ(LowerPrecision(DType::kInt32), std::nullopt);
}

TEST(Mutants, OfAScalarStayInBounds) {
  const TensorData right = Tensor<float>(DType::kFloat32, {}, {2});
  const auto mutants = MakeMutants(right, Tensor<float>(DType::kFloat32, {}, {5}), {});
  EXPECT_THAT(Values<float>(Named(mutants, "one_element")), ElementsAre(3));
  EXPECT_THAT(Values<float>(Named(mutants, "swapped_rows")), ElementsAre(2));
  EXPECT_THAT(Values<float>(Named(mutants, "last_element")), ElementsAre(5));
}

}  // namespace
}  // namespace touchstone

#include "reward/task/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "reward/task/mutants.h"

namespace touchstone {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kRows = 20;
constexpr int64_t kCols = 16;

template <typename T>
TensorData Make(DType dtype, const std::function<T(size_t)>& value) {
  TensorData data{dtype, {kRows, kCols}, std::vector<std::byte>(kRows * kCols * sizeof(T))};
  for (size_t i = 0; i < kRows * kCols; ++i) {
    const T element = value(i);
    std::memcpy(data.bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return data;
}

std::vector<float> Normal(uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(kRows * kCols);
  for (float& value : values) value = normal(random);
  return values;
}

using Function = std::function<double(double)>;

// An elementwise task y = f(x) and all that its reference would compute.
struct Case {
  Task task;
  AdmissionData data;
};

Case Elementwise(const Function& f, const Tolerance& tolerance) {
  Case c;
  c.task.id = "elementwise";
  TensorSpec x;
  x.name = "x";
  c.task.inputs = {x};
  OutputSpec y;
  y.tensor.name = "y";
  y.tolerance = tolerance;
  c.task.outputs = {y};
  c.task.floor_bytes = "8 * n";
  c.data.dims = {{"n", kRows * kCols}};
  const auto in = [](const std::vector<float>& values) {
    return Make<float>(DType::kFloat32, [&](size_t i) { return values[i]; });
  };
  const auto single = [&](const std::vector<float>& values) {
    return Make<float>(DType::kFloat32, [&](size_t i) { return static_cast<float>(f(values[i])); });
  };
  const std::vector<float> first = Normal(1);
  const std::vector<float> second = Normal(2);
  std::vector<float> rounded(first.size());
  std::memcpy(rounded.data(), RoundedToLowerPrecision(in(first)).bytes.data(), rounded.size() * sizeof(float));
  c.data.inputs = {in(first)};
  c.data.reference = {single(first)};
  c.data.oracle = {Make<double>(DType::kFloat64, [&](size_t i) { return f(first[i]); })};
  c.data.previous = {single(second)};
  c.data.rounded_inputs = {single(rounded)};
  c.data.other_input = {{single(second)}};
  return c;
}

double Scale(double x) { return 3 * x + 1; }

TEST(Admission, AdmitsAnHonestTask) {
  const Case c = Elementwise(Scale, {.rtol = 1e-6, .atol = 1e-7, .rms = 1e-6});
  const AdmissionReport report = Admit(c.task, c.data);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_TRUE(report.admitted());
  for (const MutantReport& mutant : report.mutants) {
    EXPECT_EQ(mutant.fate, MutantReport::Fate::kCaught) << mutant.mutant;
  }
  ASSERT_EQ(report.outputs.size(), 1u);
  EXPECT_GT(report.outputs[0].tolerance_used, 0);
  EXPECT_LT(report.outputs[0].tolerance_used, 0.1);
  EXPECT_GT(report.outputs[0].lower_distance, 10);
  EXPECT_EQ(report.floor_bytes, 8 * kRows * kCols);
}

TEST(Admission, RefusesATaskThatHalfPrecisionPasses) {
  const Case c = Elementwise(Scale, {.rtol = 1e-2, .atol = 1e-2});
  const AdmissionReport report = Admit(c.task, c.data);
  EXPECT_THAT(report.findings, Contains("output 'y': the check accepts the mutant 'float16'"));
  EXPECT_THAT(report.findings, Contains("output 'y': the check accepts the mutant 'float16_inputs'"));
}

TEST(Admission, RefusesATaskThatZerosPass) {
  const Case c = Elementwise(Scale, {.atol = 100});
  EXPECT_THAT(Admit(c.task, c.data).findings, Contains(HasSubstr("'zeros'")));
  EXPECT_THAT(Admit(c.task, c.data).findings, Contains(HasSubstr("'previous'")));
}

TEST(Admission, RefusesATaskThatACopyOfItsInputPasses) {
  const Case c = Elementwise([](double x) { return x * (1 + 1e-7); }, {.rtol = 1e-6});
  EXPECT_THAT(Admit(c.task, c.data).findings, Contains("output 'y': the check accepts the mutant 'input x'"));
}

TEST(Admission, RefusesAConstantTask) {
  const Case c = Elementwise([](double) { return 2.0; }, {.rtol = 1e-6});
  const auto findings = Admit(c.task, c.data).findings;
  EXPECT_THAT(findings, Contains("output 'y': all elements are equal"));
  EXPECT_THAT(findings, Contains("output 'y': two calls on different inputs give the same"));
  EXPECT_THAT(findings, Contains("input 'x': no output depends on it"));
}

TEST(Admission, RefusesAReferenceNearTheEdgeOfItsTolerance) {
  const Case c = Elementwise(Scale, {.rtol = 7e-8});
  EXPECT_THAT(Admit(c.task, c.data).findings, Contains(HasSubstr("of its tolerance, the limit is 50 %")));
}

TEST(Admission, RefusesATaskThatIsMostlyNotFinite) {
  const Case c = Elementwise([](double x) { return x < 1 ? std::nan("") : x; }, {.rtol = 1e-6});
  EXPECT_THAT(Admit(c.task, c.data).findings, Contains("output 'y': more than half of it is not finite"));
}

TEST(Admission, ToleranceUsedIsTheWorstElement) {
  const auto x = Make<float>(DType::kFloat32, [](size_t i) { return i == 5 ? 1.5F : 1.0F; });
  const auto o = Make<double>(DType::kFloat64, [](size_t) { return 1.0; });
  EXPECT_DOUBLE_EQ(ToleranceUsed(x, o, {.rtol = 1, .atol = 1}), 0.25);
  EXPECT_DOUBLE_EQ(ToleranceUsed(x, o, {.rtol = 1, .atol = 1, .rms = 1e-3}), 0.5 / std::sqrt(320.0) / 1e-3);
  EXPECT_TRUE(std::isinf(ToleranceUsed(x, o, {})));
  const auto half = Make<uint16_t>(DType::kFloat16, [](size_t i) -> uint16_t { return i == 5 ? 0x3e00 : 0x3c00; });
  EXPECT_DOUBLE_EQ(ToleranceUsed(half, o, {.rtol = 1, .atol = 1}), 0.25);
  const auto equal = Make<float>(DType::kFloat32, [](size_t) { return 1.0F; });
  EXPECT_EQ(ToleranceUsed(equal, o, {}), 0);
}

}  // namespace
}  // namespace touchstone

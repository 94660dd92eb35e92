// The whole way: source → compile box → judge process → two runner boxes → verdict. Statuses only: no time is asserted.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "reward/reward.h"
#include "reward/task/catalog.h"

namespace touchstone {
namespace {

constexpr char kRight[] = R"(
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
})";
constexpr char kSlow[] = R"(
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int turn = 0; turn < 20; ++turn)
    for (int64_t i = 0; i < n; ++i) *(volatile float*)&z[i] = x[i] + y[i];
})";
constexpr char kWrong[] = R"(
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
  z[n / 2] += 1;
})";
constexpr char kCrash[] = R"(
extern "C" void run(const float*, const float*, float* z, int64_t) { *(volatile float*)(z + (1ll << 40)) = 1; })";
constexpr char kHang[] = R"(
extern "C" void run(const float*, const float*, float*, int64_t) { for (volatile int i = 0;;) i = i + 1; })";
// TYPE is one of sixteen bits, SUM what products are added up in.
constexpr char kMatmul[] = R"(
extern "C" void run(const TYPE* a, const TYPE* b, TYPE* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      SUM sum = 0;
      for (int64_t l = 0; l < k; ++l) sum = static_cast<SUM>(sum + a[i * k + l] * b[l * n + j]);
      c[i * n + j] = static_cast<TYPE>(sum);
    }
  }
})";
constexpr char kNotCpp[] = "this is not C++";

class EvaluatorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    cache_ = std::filesystem::temp_directory_path() / ("touchstone-evaluator-test-" + std::to_string(::getpid()));
    EvaluatorOptions options;
    options.program_folder = TOUCHSTONE_BIN;
    options.build.cache_folder = cache_;
    auto evaluator = Evaluator::Create(options);
    ASSERT_TRUE(evaluator.ok()) << evaluator.error().ToString();
    evaluator_ = evaluator->release();
    auto task = FindTask("add");
    ASSERT_TRUE(task.ok()) << task.error().ToString();
    task_ = new Task(*task);
  }
  static void TearDownTestSuite() {
    delete evaluator_;
    delete task_;
    std::filesystem::remove_all(cache_);
  }

  static EvalRequest Request(const std::string& source, const std::string& profile) {
    EvalRequest request;
    request.task = task_;
    request.source = source;
    auto loaded = LoadProfile(profile);
    EXPECT_TRUE(loaded.ok()) << loaded.error().ToString();
    request.profile = *loaded;
    request.profile.call_timeout = std::chrono::milliseconds(1500);
    return request;
  }
  static EvalResult Evaluate(const EvalRequest& request) {
    auto result = evaluator_->Evaluate(request);
    EXPECT_TRUE(result.ok()) << result.error().ToString();
    return result.ok() ? *result : EvalResult{};
  }

  static inline Evaluator* evaluator_ = nullptr;
  static inline Task* task_ = nullptr;
  static inline std::string cache_;
};

TEST_F(EvaluatorTest, ARightKernelSucceeds) {
  const EvalResult result = Evaluate(Request(kRight, "check"));
  EXPECT_EQ(result.status, EvalStatus::kSuccess) << result.reason;
  EXPECT_EQ(result.fault(), Fault::kNone);
  EXPECT_EQ(result.level, "full");
  EXPECT_FALSE(result.trials.empty());
}

TEST_F(EvaluatorTest, AWrongElementIsIncorrect) {
  const EvalResult result = Evaluate(Request(kWrong, "check"));
  EXPECT_EQ(result.status, EvalStatus::kIncorrect) << result.reason;
  EXPECT_EQ(result.fault(), Fault::kCandidate);
}

// A candidate sees the types that the header defines, whose products are those of floats. Generator, reference and
// comparison agree with it about their bits.
TEST_F(EvaluatorTest, SumsOfSixteenBitsAreToldFromSumsOfFloats) {
  for (const std::string type : {"float16", "bfloat16"}) {
    SCOPED_TRACE(type);
    const auto task = FindTask("matmul_" + type);
    ASSERT_TRUE(task.ok()) << task.error().ToString();
    EvalRequest request = Request("", "check");
    request.task = &*task;
    request.source = "#define TYPE " + type + "\n#define SUM float\n" + kMatmul;
    const EvalResult right = Evaluate(request);
    EXPECT_EQ(right.status, EvalStatus::kSuccess) << right.reason;
    request.source = "#define TYPE " + type + "\n#define SUM " + type + "\n" + kMatmul;
    const EvalResult coarse = Evaluate(request);
    EXPECT_EQ(coarse.status, EvalStatus::kIncorrect) << coarse.reason;
  }
}

TEST_F(EvaluatorTest, ACrashIsARuntimeErrorThatNamesTheSignal) {
  const EvalResult result = Evaluate(Request(kCrash, "check"));
  EXPECT_EQ(result.status, EvalStatus::kRuntimeError) << result.reason;
  EXPECT_NE(result.reason.find("SEGV"), std::string::npos) << result.reason;
}

TEST_F(EvaluatorTest, AnEndlessLoopIsATimeout) {
  const EvalResult result = Evaluate(Request(kHang, "check"));
  EXPECT_EQ(result.status, EvalStatus::kTimeout) << result.reason;
}

TEST_F(EvaluatorTest, WhatIsNotCppIsACompileErrorWithItsLine) {
  const EvalResult result = Evaluate(Request(kNotCpp, "check"));
  EXPECT_EQ(result.status, EvalStatus::kCompileError);
  EXPECT_NE(result.reason.find("candidate.cc:1"), std::string::npos) << result.reason;
}

// Twenty times the work of the other: the order of the two is beyond any noise of the machine.
TEST_F(EvaluatorTest, ASlowerKernelIsMeasuredSlower) {
  EvalRequest request = Request(kSlow, "quick");
  request.profile.max_rounds = 10;
  request.baseline_source = kRight;
  const EvalResult result = Evaluate(request);
  ASSERT_TRUE(result.status == EvalStatus::kSuccess || result.status == EvalStatus::kUnstable) << result.reason;
  EXPECT_GT(result.speedup.speedup, 0);
  EXPECT_LT(result.speedup.speedup, 0.5);
  EXPECT_FALSE(result.rounds.empty());
  EXPECT_GT(result.baseline_us, 0);
}

TEST_F(EvaluatorTest, TheSameKeyGivesTheSameTrials) {
  const EvalResult first = Evaluate(Request(kWrong, "check"));
  EvalRequest request = Request(kWrong, "check");
  SecretKey key{};
  for (size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<uint8_t>(std::stoi(first.key_hex.substr(2 * i, 2), nullptr, 16));
  request.key = key;
  const EvalResult again = Evaluate(request);
  ASSERT_FALSE(first.trials.empty());
  ASSERT_EQ(first.trials.size(), again.trials.size());
  EXPECT_EQ(first.trials[0].candidate.rms_expected, again.trials[0].candidate.rms_expected);
  EXPECT_EQ(first.trials[0].candidate.first_mismatch, again.trials[0].candidate.first_mismatch);
  EXPECT_NE(Evaluate(Request(kWrong, "check")).trials[0].candidate.rms_expected,
            first.trials[0].candidate.rms_expected);
}

TEST_F(EvaluatorTest, ABadRequestIsAnErrorAndNotAResult) {
  EvalRequest request = Request(kRight, "check");
  request.size = "enormous";
  auto result = evaluator_->Evaluate(request);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("enormous"), std::string::npos) << result.error().message();
  request = Request(kRight, "check");
  request.baseline_source = kNotCpp;
  EXPECT_EQ(evaluator_->Evaluate(request).error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace touchstone

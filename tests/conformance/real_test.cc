// The suite for two cheap tasks with a real slot: nothing is faked but the scheduler.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/work_thread.h"
#include "reward/reward.h"
#include "tests/conformance/suite.h"

namespace touchstone {
namespace {

// One slot and its thread.
class OneSlot final : public Evaluations {
 public:
  explicit OneSlot(std::unique_ptr<Evaluator> evaluator) : evaluator_(std::move(evaluator)) {}

  Status Submit(EvaluationJob job) override {
    slot_.Post([this, job = std::move(job)] { job.done(evaluator_->Evaluate(job.request)); });
    return {};
  }
  bool Cancel(const RequestKey&) override { return false; }
  std::map<std::string, std::string> DeviceFacts() const override { return {{"isolation", "full"}}; }

 private:
  const std::unique_ptr<Evaluator> evaluator_;
  WorkThread slot_;
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class RealConformance : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    EvaluatorOptions options;
    options.program_folder = TOUCHSTONE_BIN;
    cache_ = std::make_unique<TempFolder>();
    options.build.cache_folder = cache_->path();
    auto evaluator = Evaluator::Create(std::move(options));
    ASSERT_TRUE(evaluator.ok()) << evaluator.error().ToString();
    slot_ = std::make_unique<OneSlot>(std::move(evaluator).value());
  }
  static void TearDownTestSuite() {
    slot_.reset();
    cache_.reset();
  }

  static Conformance Suite(const std::string& profile) {
    const std::string right = ReadAll(TOUCHSTONE_HONEST_SOURCES "/" + GetParam() + ".cc");
    EXPECT_FALSE(right.empty());
    return {*slot_, GetParam(), profile, right, "this does not compile"};
  }

  static inline std::unique_ptr<TempFolder> cache_;
  static inline std::unique_ptr<OneSlot> slot_;
};

// The quick profile times, so that there are scores to draw.
TEST_P(RealConformance, SameSeedGivesTheSameTaskExemplarsAndTexts) {
  Suite("quick").SameSeedGivesTheSameTaskExemplarsAndTexts();
}
TEST_P(RealConformance, StepAfterTheEndFails) { Suite("check").StepAfterTheEndFails(); }
TEST_P(RealConformance, WhatIsStoredDecodesToWhatWasMeant) { Suite("check").WhatIsStoredDecodesToWhatWasMeant(); }
TEST_P(RealConformance, ABadStepChangesNothing) { Suite("check").ABadStepChangesNothing(); }
// Rewards are pure functions of a record: all of them are tried on made ones.
TEST_P(RealConformance, RewardsStayInTheirRange) {
  Suite("check").RewardsStayInTheirRange({"binary", "kernrl", "speedup_lcb"});
}

INSTANTIATE_TEST_SUITE_P(Tasks, RealConformance, ::testing::Values("add", "row_sum"),
                         [](const auto& task) { return task.param; });

}  // namespace
}  // namespace touchstone

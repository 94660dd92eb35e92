// The suite for every shipped task, with an evaluator that a test decides.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reward/presets/preset.h"
#include "reward/task/catalog.h"
#include "tests/conformance/suite.h"
#include "tests/env/episode/fake_evaluations.h"
#include "tests/env/episode/requests.h"

namespace touchstone {
namespace {

std::vector<std::string> ShippedTasks() {
  std::vector<std::string> ids;
  for (const Task& task : LoadTasks(DefaultTaskFolder()).value()) ids.push_back(task.id);
  return ids;
}

class FakeConformance : public ::testing::TestWithParam<std::string> {
 protected:
  FakeEvaluations evaluations_;
  Conformance suite_{evaluations_, GetParam(), "quick", "speedup 1.5", "incorrect"};
};

TEST_P(FakeConformance, SameSeedGivesTheSameTaskExemplarsAndTexts) {
  suite_.SameSeedGivesTheSameTaskExemplarsAndTexts();
}
TEST_P(FakeConformance, StepAfterTheEndFails) { suite_.StepAfterTheEndFails(); }
TEST_P(FakeConformance, WhatIsStoredDecodesToWhatWasMeant) { suite_.WhatIsStoredDecodesToWhatWasMeant(); }
TEST_P(FakeConformance, ABadStepChangesNothing) { suite_.ABadStepChangesNothing(); }
TEST_P(FakeConformance, RewardsStayInTheirRange) {
  std::vector<std::string> names;
  for (const RewardPreset& preset : RewardPresets()) names.emplace_back(preset.name);
  suite_.RewardsStayInTheirRange(names);
}

INSTANTIATE_TEST_SUITE_P(Tasks, FakeConformance, ::testing::ValuesIn(ShippedTasks()),
                         [](const auto& task) { return task.param; });

// Every preset meets every status in an episode.
TEST(Rewards, OfEveryStatusAreInTheirRange) {
  FakeEvaluations evaluations;
  const auto environment = Environment::Create({}, evaluations, nullptr, nullptr).value();
  int requests = 0;
  for (const RewardPreset& preset : RewardPresets()) {
    ResetRequest request = ResetOf({"conformance", std::to_string(++requests)}, "add");
    request.reward = std::string(preset.name);
    request.max_turns = 100;
    const std::string session = environment->Reset(request)->session;
    for (int i = 0; i <= static_cast<int>(EvalStatus::kDeadline); ++i) {
      const std::string status(ToString(static_cast<EvalStatus>(i)));
      const auto step = environment->Step(StepOf({"conformance", std::to_string(++requests)}, session, status));
      ASSERT_TRUE(step.ok()) << step.error().ToString();
      EXPECT_EQ(step->observation.outcome, status);
      EXPECT_EQ(step->reward.has_value(), step->info.terms.why_none.empty());
      if (!step->reward) continue;
      EXPECT_GE(*step->reward, preset.low) << preset.name << " " << status;
      EXPECT_LE(*step->reward, preset.high) << preset.name << " " << status;
    }
  }
}

}  // namespace
}  // namespace touchstone

#include "tests/conformance/suite.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "env/episode/session_spec.h"
#include "reward/presets/preset.h"
#include "tests/env/episode/describe.h"
#include "tests/env/episode/requests.h"

namespace touchstone {

Conformance::Conformance(Evaluations& evaluations, std::string task, std::string profile, std::string right,
                         std::string wrong)
    : task_(std::move(task)),
      profile_(std::move(profile)),
      right_(std::move(right)),
      wrong_(std::move(wrong)),
      store_(OpenStore(folder_.path())),
      selector_(RolloutSelector::Create(*store_).value()),
      environment_(Environment::Create({}, evaluations, store_.get(), selector_.get()).value()) {}

ResetRequest Conformance::ForReset(int max_turns) {
  ResetRequest request = ResetOf(NextKey(), task_);
  request.profile = profile_;
  request.max_turns = max_turns;
  return request;
}

void Conformance::SameSeedGivesTheSameTaskExemplarsAndTexts() {
  for (const char* mark : {"// a\n", "// b\n", "// c\n"}) {
    ScoreRequest score = ScoreOf(NextKey(), task_, mark + right_);
    score.profile = profile_;
    ASSERT_TRUE(environment_->Score(score).ok());
  }
  ResetRequest request = ForReset(3);
  request.seed = 11;
  request.exemplars = 2;
  const auto first = environment_->Reset(request);
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  request.key = NextKey();
  request.exemplars_as_of = first->exemplars_as_of;
  auto again = environment_->Reset(request);
  ASSERT_TRUE(again.ok());
  EXPECT_NE(again->session, first->session);
  again->session = first->session;
  EXPECT_EQ(Describe(*again), Describe(*first));
}

void Conformance::StepAfterTheEndFails() {
  const std::string session = environment_->Reset(ForReset(1))->session;
  const auto only = environment_->Step(StepOf(NextKey(), session, wrong_));
  ASSERT_TRUE(only.ok()) << only.error().ToString();
  EXPECT_TRUE(only->truncated);
  EXPECT_NE(only->observation.outcome, "success");
  const auto after = environment_->Step(StepOf(NextKey(), session, wrong_));
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().code(), ErrorCode::kClosed);
}

void Conformance::WhatIsStoredDecodesToWhatWasMeant() {
  ResetRequest request = ForReset(7);
  request.method = "kevin";
  request.seed = 3;
  request.target_speedup = 2.5;
  request.budget = std::chrono::milliseconds(123'456);
  request.group_id = "group";
  request.policy_version = "policy";
  const std::string session = environment_->Reset(request)->session;
  const std::string stored = store_->FindSession(session).value()->spec;
  const SessionSpec spec = SessionSpecFromJson(stored).value();
  EXPECT_EQ(ToJsonText(spec), stored);
  EXPECT_EQ(spec.task, task_);
  EXPECT_EQ(spec.profile, profile_);
  EXPECT_EQ(spec.max_turns, 7);
  EXPECT_EQ(spec.target_speedup, 2.5);
  EXPECT_EQ(spec.budget, request.budget);
  EXPECT_EQ(spec.group_id, "group");
  EXPECT_EQ(spec.policy_version, "policy");
}

void Conformance::ABadStepChangesNothing() {
  const std::string session = environment_->Reset(ForReset(2))->session;
  std::vector<StepRequest> bad(4, StepOf(NextKey(), session, right_));
  bad[0].turn = 1;
  bad[1].action.response = "both";
  bad[2].priority = 99;
  bad[3].key.request_id.clear();
  const uint64_t before = store_->last_sequence();
  for (const StepRequest& request : bad) EXPECT_FALSE(environment_->Step(request).ok());
  EXPECT_EQ(store_->last_sequence(), before);
  const auto good = environment_->Step(StepOf(NextKey(), session, right_));
  ASSERT_TRUE(good.ok()) << good.error().ToString();
  EXPECT_EQ(good->observation.turn, 1);
  EXPECT_EQ(good->observation.outcome, "success") << good->info.result.reason;
}

void Conformance::RewardsStayInTheirRange(const std::vector<std::string>& presets) {
  for (const std::string& name : presets) {
    const RewardPreset& preset = *FindRewardPreset(name).value();
    ResetRequest request = ForReset(2);
    request.reward = name;
    const auto reset = environment_->Reset(request);
    ASSERT_TRUE(reset.ok()) << reset.error().ToString();
    EXPECT_EQ(reset->reward_low, preset.low);
    EXPECT_EQ(reset->reward_high, preset.high);
    for (const std::string& source : {wrong_, right_}) {
      const auto step = environment_->Step(StepOf(NextKey(), reset->session, source));
      ASSERT_TRUE(step.ok()) << step.error().ToString();
      EXPECT_EQ(step->reward.has_value(), step->info.terms.why_none.empty());
      if (!step->reward) continue;
      EXPECT_GE(*step->reward, preset.low) << preset.name;
      EXPECT_LE(*step->reward, preset.high) << preset.name;
    }
  }
}

}  // namespace touchstone

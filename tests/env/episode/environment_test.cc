// The environment in process, without a store. With one: restart_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "env/env.h"
#include "tests/env/episode/fake_evaluations.h"

namespace touchstone {
namespace {

using ::testing::HasSubstr;

class EnvironmentTest : public ::testing::Test {
 protected:
  EnvironmentTest() { Open({}); }

  void Open(EnvironmentOptions options) {
    environment_.reset();
    auto environment = Environment::Create(std::move(options), evaluations_, nullptr, nullptr);
    ASSERT_TRUE(environment.ok()) << environment.error().ToString();
    environment_ = std::move(environment).value();
  }
  RequestKey NextKey() { return {"test", "q" + std::to_string(++requests_)}; }
  ResetRequest ForReset(int turns = 3) {
    ResetRequest request;
    request.key = NextKey();
    request.tasks = {"softmax"};
    request.max_turns = turns;
    return request;
  }
  std::string Session(int turns = 3) {
    auto reply = environment_->Reset(ForReset(turns));
    EXPECT_TRUE(reply.ok()) << reply.error().ToString();
    return reply->session;
  }
  StepRequest ForStep(const std::string& session, const std::string& source) {
    StepRequest request;
    request.key = NextKey();
    request.session = session;
    request.action.source = source;
    return request;
  }
  Result<StepReply> Step(const std::string& session, const std::string& source) {
    return environment_->Step(ForStep(session, source));
  }
  std::future<Result<StepReply>> StepLater(StepRequest request) {
    auto promise = std::make_shared<std::promise<Result<StepReply>>>();
    environment_->Step(std::move(request),
                       [promise](Result<StepReply> reply) { promise->set_value(std::move(reply)); });
    return promise->get_future();
  }

  FakeEvaluations evaluations_;
  std::unique_ptr<Environment> environment_;
  int requests_ = 0;
};

TEST_F(EnvironmentTest, ResetShowsTheTask) {
  const auto reply = environment_->Reset(ForReset());
  ASSERT_TRUE(reply.ok()) << reply.error().ToString();
  const Observation& observation = reply->observation;
  EXPECT_EQ(observation.text->task, "softmax");
  EXPECT_THAT(observation.text->signature, HasSubstr("void run(const float* x, float* y, int64_t rows, int64_t cols)"));
  EXPECT_THAT(observation.prompt, HasSubstr(observation.text->statement));
  EXPECT_THAT(observation.prompt, HasSubstr(observation.text->header));
  EXPECT_THAT(observation.prompt, HasSubstr("Turn 1 of 3"));
  EXPECT_EQ(observation.turns_left, 3);
  EXPECT_EQ(reply->reward_preset, "speedup_lcb");
  EXPECT_EQ(reply->reward_low, 0);
}

TEST_F(EnvironmentTest, StepsUntilItsTurnsAreUsedUp) {
  const std::string session = Session(3);
  const auto first = Step(session, "incorrect");
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  EXPECT_EQ(first->reward, 0);
  EXPECT_EQ(first->observation.turn, 1);
  EXPECT_EQ(first->observation.outcome, "incorrect");
  EXPECT_FALSE(first->truncated);

  const auto second = Step(session, "speedup 2");
  EXPECT_DOUBLE_EQ(*second->reward, 1.96);
  EXPECT_DOUBLE_EQ(second->reward_increment, 1.96);
  EXPECT_DOUBLE_EQ(second->best_speedup, 2);

  const auto third = Step(session, "speedup 1.5");
  EXPECT_DOUBLE_EQ(third->reward_increment, 0);
  EXPECT_DOUBLE_EQ(third->best_speedup, 2);
  EXPECT_TRUE(third->truncated);
  EXPECT_FALSE(third->terminated);
  EXPECT_EQ(third->observation.prompt, "");

  const auto fourth = Step(session, "speedup 3");
  ASSERT_FALSE(fourth.ok());
  EXPECT_EQ(fourth.error().code(), ErrorCode::kClosed);
  EXPECT_THAT(fourth.error().message(), HasSubstr("truncated"));
  EXPECT_EQ(environment_->open_sessions(), 0U);
}

TEST_F(EnvironmentTest, EndsWhenTheTargetIsReached) {
  ResetRequest reset = ForReset();
  reset.target_speedup = 1.5;
  const std::string session = environment_->Reset(reset)->session;
  EXPECT_FALSE(Step(session, "speedup 1.4")->terminated);
  const auto reached = Step(session, "speedup 1.5");
  EXPECT_TRUE(reached->terminated);
  EXPECT_FALSE(reached->truncated);
  EXPECT_EQ(Step(session, "speedup 2").error().code(), ErrorCode::kClosed);
}

TEST_F(EnvironmentTest, EndsWhenItsTimeIsOver) {
  ResetRequest reset = ForReset();
  reset.budget = std::chrono::milliseconds(1);
  const std::string session = environment_->Reset(reset)->session;
  evaluations_.Hold();
  auto step = StepLater(ForStep(session, "speedup 1"));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (!evaluations_.Release()) {  // the millisecond was over before the step began
    EXPECT_EQ(step.get().error().code(), ErrorCode::kClosed);
    return;
  }
  EXPECT_TRUE(step.get()->truncated);
}

TEST_F(EnvironmentTest, TakesTheLastBlockOfAResponse) {
  const std::string session = Session();
  StepRequest request = ForStep(session, "");
  request.action.response = "ü\n```cpp\nincorrect\n```\nthen\n```cpp\nspeedup 3\n```\n";
  const auto reply = environment_->Step(request);
  ASSERT_TRUE(reply.ok());
  EXPECT_DOUBLE_EQ(reply->best_speedup, 3);
  EXPECT_EQ(reply->info.code_length, 10);
  EXPECT_EQ(reply->info.code_end - reply->info.code_begin, 10);
  EXPECT_EQ(reply->info.code_begin, 35);
}

TEST_F(EnvironmentTest, AFormatErrorCostsATurnAndNoEvaluation) {
  const std::string session = Session();
  StepRequest request = ForStep(session, "");
  request.action.response = "I do not know.";
  const auto reply = environment_->Step(request);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->observation.outcome, "format_error");
  EXPECT_EQ(reply->observation.turn, 1);
  EXPECT_EQ(reply->reward, 0);
  EXPECT_EQ(evaluations_.submitted(), 0);
}

TEST_F(EnvironmentTest, TheSameKeyGetsTheSameAnswerAndIsNotDoneAgain) {
  const std::string session = Session();
  const StepRequest request = ForStep(session, "speedup 2");
  const auto first = environment_->Step(request);
  const auto again = environment_->Step(request);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(first->info.rollout, again->info.rollout);
  EXPECT_EQ(first->observation.prompt, again->observation.prompt);
  EXPECT_EQ(evaluations_.submitted(), 1);
  EXPECT_EQ(Step(session, "speedup 1")->observation.turn, 2);

  const ResetRequest reset = ForReset();
  EXPECT_EQ(environment_->Reset(reset)->session, environment_->Reset(reset)->session);
}

TEST_F(EnvironmentTest, TheSameKeyInFlightGetsTheAnswerWhenItIsThere) {
  const std::string session = Session();
  evaluations_.Hold();
  const StepRequest request = ForStep(session, "speedup 2");
  auto first = StepLater(request);
  auto again = StepLater(request);
  EXPECT_TRUE(evaluations_.Release());
  EXPECT_FALSE(evaluations_.Release());
  EXPECT_EQ(first.get()->info.rollout, again.get()->info.rollout);
}

TEST_F(EnvironmentTest, OneStepAtATime) {
  const std::string session = Session();
  evaluations_.Hold();
  auto first = StepLater(ForStep(session, "speedup 2"));
  const auto second = Step(session, "speedup 3");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::kConflict);
  evaluations_.Release();
  EXPECT_EQ(first.get()->observation.turn, 1);
}

TEST_F(EnvironmentTest, AnotherTurnIsRefused) {
  const std::string session = Session();
  StepRequest request = ForStep(session, "speedup 2");
  request.turn = 1;
  EXPECT_EQ(environment_->Step(request).error().code(), ErrorCode::kConflict);
  request.turn = 0;
  EXPECT_TRUE(environment_->Step(request).ok());
}

TEST_F(EnvironmentTest, ABadStepChangesNothing) {
  const std::string session = Session();
  std::vector<StepRequest> bad(6, ForStep(session, "speedup 2"));
  bad[0].key.request_id = "";
  bad[1].action.response = "both";
  bad[2].priority = 11;
  bad[3].deadline = std::chrono::milliseconds(-1);
  bad[4].prompt_hash = "\xff";
  bad[5].key.client = std::string(65, 'x');
  const char* fields[] = {"request_id", "source", "priority", "deadline_ms", "prompt_hash", "client"};
  for (size_t i = 0; i < bad.size(); ++i) {
    const auto reply = environment_->Step(bad[i]);
    ASSERT_FALSE(reply.ok()) << fields[i];
    EXPECT_EQ(reply.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(reply.error().message(), HasSubstr(fields[i]));
  }
  evaluations_.Refuse(Error(ErrorCode::kExhausted, "the queue is full"));
  EXPECT_EQ(Step(session, "speedup 2").error().code(), ErrorCode::kExhausted);
  evaluations_.Refuse({});
  EXPECT_EQ(Step(session, "speedup 2")->observation.turn, 1);
}

TEST_F(EnvironmentTest, ABadResetIsRefusedAndNamesTheField) {
  const auto code = [&](const std::function<void(ResetRequest&)>& change, const std::string& field) {
    ResetRequest request = ForReset();
    change(request);
    const auto reply = environment_->Reset(request);
    EXPECT_FALSE(reply.ok()) << field;
    EXPECT_THAT(reply.error().message(), HasSubstr(field));
    return reply.error().code();
  };
  using R = ResetRequest;
  EXPECT_EQ(code([](R& r) { r.tasks = {"nothing"}; }, "task"), ErrorCode::kNotFound);
  EXPECT_EQ(code([](R& r) { r.method = "nothing"; }, "method"), ErrorCode::kNotFound);
  EXPECT_EQ(code([](R& r) { r.profile = "/etc/passwd"; }, "profile"), ErrorCode::kNotFound);
  EXPECT_EQ(code([](R& r) { r.reward = "nothing"; }, "reward"), ErrorCode::kNotFound);
  EXPECT_EQ(code([](R& r) { r.size = "nothing"; }, "size"), ErrorCode::kNotFound);
  EXPECT_EQ(code([](R& r) { r.max_turns = 0; }, "max_turns"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](R& r) { r.target_speedup = -1; }, "target_speedup"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](R& r) { r.budget = std::chrono::milliseconds(0); }, "budget_ms"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](R& r) { r.exemplars = 17; }, "exemplars"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](R& r) { r.exemplars = 1; }, "exemplars"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](R& r) { r.group_id = std::string(257, 'g'); }, "group_id"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](R& r) { r.baseline_source = " "; }, "baseline_source"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(environment_->open_sessions(), 0U);
}

TEST_F(EnvironmentTest, CancelledStepsAreDataAndCostATurn) {
  const std::string session = Session();
  evaluations_.Hold();
  const StepRequest request = ForStep(session, "speedup 2");
  auto step = StepLater(request);
  EXPECT_TRUE(environment_->Cancel(request.key));
  const auto reply = step.get();
  EXPECT_EQ(reply->observation.outcome, "cancelled");
  EXPECT_FALSE(reply->reward);
  EXPECT_FALSE(environment_->Cancel(request.key));
}

TEST_F(EnvironmentTest, CloseEndsASessionOnce) {
  const std::string session = Session();
  const auto close = [&](const std::string& id) {
    std::promise<Result<bool>> promise;
    environment_->Close(id, [&](Result<bool> closed) { promise.set_value(std::move(closed)); });
    return promise.get_future().get();
  };
  EXPECT_TRUE(*close(session));
  EXPECT_FALSE(*close(session));
  EXPECT_EQ(Step(session, "speedup 1").error().code(), ErrorCode::kClosed);
  EXPECT_EQ(close("nothing").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Step("nothing", "speedup 1").error().code(), ErrorCode::kNotFound);
}

TEST_F(EnvironmentTest, IdleSessionsAreClosedAndSaySo) {
  const std::string idle = Session();
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(environment_->CloseIdle(now), 0U);
  EXPECT_EQ(environment_->CloseIdle(now + std::chrono::hours(2)), 1U);
  const auto step = Step(idle, "speedup 1");
  EXPECT_EQ(step.error().code(), ErrorCode::kClosed);
  EXPECT_THAT(step.error().message(), HasSubstr("idle"));
}

TEST_F(EnvironmentTest, ThereIsALimitOfSessions) {
  Open({.task_folder = "", .method_folder = "", .max_sessions = 2});
  Session();
  Session();
  const auto third = environment_->Reset(ForReset());
  EXPECT_EQ(third.error().code(), ErrorCode::kExhausted);
}

TEST_F(EnvironmentTest, TheSeedDrawsTheTask) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    ResetRequest request = ForReset();
    request.tasks.clear();
    request.seed = seed;
    const auto first = environment_->Reset(request);
    request.key = NextKey();
    const auto again = environment_->Reset(request);
    EXPECT_EQ(first->observation.prompt, again->observation.prompt);
    EXPECT_NE(first->session, again->session);
    seen.insert(first->observation.text->task);
  }
  EXPECT_GT(seen.size(), 10U);
}

TEST_F(EnvironmentTest, ScoresWithoutAnEpisode) {
  ScoreRequest request;
  request.key = NextKey();
  request.task = "add";
  request.action.source = "speedup 2";
  request.reward = "kevin";
  const auto reply = environment_->Score(request);
  ASSERT_TRUE(reply.ok()) << reply.error().ToString();
  EXPECT_DOUBLE_EQ(*reply->reward, 2.3);
  EXPECT_EQ(reply->info.result.key_hex, "");
  EXPECT_EQ(environment_->Score(request)->info.rollout, reply->info.rollout);
  EXPECT_EQ(evaluations_.submitted(), 1);
  EXPECT_EQ(environment_->FindScore(request.key).value()->info.rollout, reply->info.rollout);
}

TEST_F(EnvironmentTest, AKeyStandsForOneCall) {
  const std::string session = Session();
  const StepRequest step = ForStep(session, "speedup 2");
  ASSERT_TRUE(environment_->Step(step).ok());
  ScoreRequest score;
  score.key = step.key;
  score.task = "add";
  score.action.source = "speedup 2";
  EXPECT_EQ(environment_->Score(score).error().code(), ErrorCode::kConflict);
}

TEST_F(EnvironmentTest, ManyThreadsStepTheirSessions) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int s = 0; s < 10; ++s) {
        const std::string name = std::to_string(t) + "." + std::to_string(s);
        ResetRequest reset;
        reset.key = {"thread", "reset " + name};
        reset.max_turns = 5;
        const std::string session = environment_->Reset(reset)->session;
        for (int turn = 0; turn < 5; ++turn) {
          StepRequest step;
          step.key = {"thread", "step " + name + "." + std::to_string(turn)};
          step.session = session;
          step.action.source = "speedup 1." + std::to_string(turn);
          step.turn = turn;
          EXPECT_EQ(environment_->Step(step)->truncated, turn == 4);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(environment_->open_sessions(), 0U);
  EXPECT_EQ(evaluations_.submitted(), 200);
}

}  // namespace
}  // namespace touchstone

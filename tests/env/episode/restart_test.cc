// The environment with a store: what survives a restart, and what a refused write leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "env/env.h"
#include "tests/env/episode/describe.h"
#include "tests/env/episode/fake_evaluations.h"
#include "tests/rollout/store_fixture.h"

namespace touchstone {
namespace {

using ::testing::HasSubstr;

class RestartTest : public ::testing::Test {
 protected:
  RestartTest() { Start(); }

  void Start(EnvironmentOptions options = {}) {
    environment_.reset();
    selector_.reset();
    store_.reset();
    store_ = OpenStore(folder_.path());
    auto selector = RolloutSelector::Create(*store_);
    TOUCHSTONE_CHECK(selector.ok(), selector.error().ToString());
    selector_ = std::move(selector).value();
    auto environment = Environment::Create(std::move(options), evaluations_, store_.get(), selector_.get());
    TOUCHSTONE_CHECK(environment.ok(), environment.error().ToString());
    environment_ = std::move(environment).value();
  }
  RequestKey NextKey() { return {"test", "q" + std::to_string(++requests_)}; }
  ResetRequest ForReset(int turns = 3) {
    ResetRequest request;
    request.key = NextKey();
    request.tasks = {"softmax"};
    request.max_turns = turns;
    request.group_id = "g";
    return request;
  }
  std::string Session(int turns = 3) { return environment_->Reset(ForReset(turns)).value().session; }
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
  Result<ScoreReply> Score(const std::string& source, const std::string& task = "softmax") {
    ScoreRequest request;
    request.key = NextKey();
    request.task = task;
    request.action.source = source;
    return environment_->Score(request);
  }
  Result<ValidateReply> Validate(const ValidateRequest& request) {
    std::promise<Result<ValidateReply>> promise;
    environment_->Validate(request, [&](Result<ValidateReply> reply) { promise.set_value(std::move(reply)); });
    return promise.get_future().get();
  }
  Result<ValidateReply> Validate(const std::string& rollout) {
    return Validate(ValidateRequest{.key = NextKey(), .rollout = rollout});
  }
  Result<bool> Close(const std::string& session) {
    std::promise<Result<bool>> promise;
    environment_->Close(session, [&](Result<bool> closed) { promise.set_value(std::move(closed)); });
    return promise.get_future().get();
  }

  TempFolder folder_;
  FakeEvaluations evaluations_;
  std::unique_ptr<RolloutStore> store_;
  std::unique_ptr<RolloutSelector> selector_;
  std::unique_ptr<Environment> environment_;
  int requests_ = 0;
};

TEST_F(RestartTest, ARepeatedRequestGetsTheSameAnswerAfterARestart) {
  ResetRequest reset = ForReset();
  reset.method = "kevin";
  reset.budget = std::chrono::hours(1);
  const ResetReply opened = environment_->Reset(reset).value();
  std::vector<StepRequest> steps = {ForStep(opened.session, "incorrect"), ForStep(opened.session, "speedup 2.5"),
                                    ForStep(opened.session, "")};
  steps[2].action.response = "no code";
  std::vector<StepReply> replies;
  for (const StepRequest& step : steps) replies.push_back(environment_->Step(step).value());
  ScoreRequest score;
  score.key = NextKey();
  score.task = "add";
  score.action.source = "speedup 1.25";
  const ScoreReply scored = environment_->Score(score).value();
  const int submitted = evaluations_.submitted();

  for (int restarts = 0; restarts < 2; ++restarts) {
    EXPECT_EQ(Describe(environment_->Reset(reset).value()), Describe(opened));
    for (size_t i = 0; i < steps.size(); ++i) {
      EXPECT_EQ(Describe(environment_->Step(steps[i]).value()), Describe(replies[i]));
      EXPECT_EQ(Describe(environment_->FindStep(steps[i].key).value().value()), Describe(replies[i]));
    }
    EXPECT_EQ(Describe(environment_->Score(score).value()), Describe(scored));
    EXPECT_EQ(Describe(environment_->FindScore(score.key).value().value()), Describe(scored));
    Start();
  }
  EXPECT_EQ(evaluations_.submitted(), submitted);
  EXPECT_FALSE(environment_->FindStep({"test", "never"}).value());
  EXPECT_FALSE(environment_->FindStep(score.key).value());
  EXPECT_FALSE(environment_->FindScore(steps[0].key).value());
}

TEST_F(RestartTest, AnEpisodeGoesOnWhereItWas) {
  const std::string session = Session(3);
  EXPECT_DOUBLE_EQ(*Step(session, "speedup 2").value().reward, 1.96);
  Start();
  EXPECT_EQ(environment_->open_sessions(), 1U);
  const StepReply second = Step(session, "speedup 1").value();
  EXPECT_EQ(second.observation.turn, 2);
  EXPECT_DOUBLE_EQ(second.reward_increment, 0);
  EXPECT_DOUBLE_EQ(second.best_speedup, 2);
  Start();
  EXPECT_TRUE(Step(session, "speedup 1").value().truncated);
  EXPECT_EQ(Step(session, "speedup 1").error().code(), ErrorCode::kClosed);
  Start();
  EXPECT_EQ(environment_->open_sessions(), 0U);
  EXPECT_THAT(Step(session, "speedup 1"), Fails(ErrorCode::kClosed, "truncated"));
  EXPECT_THAT(Step("nothing", "speedup 1"), Fails(ErrorCode::kNotFound, "nothing"));
}

TEST_F(RestartTest, TheRecordHoldsEverything) {
  const std::string session = Session();
  StepRequest request = ForStep(session, "");
  request.action.response = "```cpp\nspeedup 2\n```";
  request.prompt_hash = "p";
  request.policy_version = "v";
  const StepReply first = environment_->Step(request).value();
  const StepReply second = Step(session, "incorrect").value();
  const RolloutRecord record = store_->Read(first.info.rollout).value();
  EXPECT_EQ(record.session, session);
  EXPECT_EQ(record.turn, 0);
  EXPECT_EQ(record.group_id, "g");
  EXPECT_EQ(record.parent, "");
  EXPECT_EQ(record.policy_version, "v");
  EXPECT_EQ(record.prompt_hash, "p");
  EXPECT_EQ(record.response, request.action.response);
  EXPECT_EQ(record.source, "speedup 2\n");
  EXPECT_EQ(record.code_begin, 7);
  EXPECT_EQ(record.result.key_hex, std::string(64, 'a'));  // for us, not for the policy
  EXPECT_EQ(first.info.result.key_hex, "");
  EXPECT_EQ(store_->Read(second.info.rollout).value().parent, first.info.rollout);
}

TEST_F(RestartTest, SessionsLeaveMemoryAndComeBack) {
  const std::string session = Session();
  ASSERT_TRUE(Step(session, "speedup 2").ok());
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(environment_->CloseIdle(now + std::chrono::minutes(30)), 0U);
  EXPECT_EQ(environment_->open_sessions(), 1U);
  EXPECT_DOUBLE_EQ(Step(session, "speedup 1").value().best_speedup, 2);
  EXPECT_EQ(environment_->CloseIdle(now + std::chrono::minutes(30)), 0U);  // left to the store again
  EXPECT_EQ(environment_->CloseIdle(now + std::chrono::hours(3)), 1U);
  EXPECT_THAT(Step(session, "speedup 1"), Fails(ErrorCode::kClosed, "idle"));
  Start();
  EXPECT_THAT(Step(session, "speedup 1"), Fails(ErrorCode::kClosed, "idle"));
}

TEST_F(RestartTest, ClosingIsDurable) {
  const std::string session = Session();
  const std::string other = Session();
  EXPECT_TRUE(Close(session).value());
  Start();
  EXPECT_FALSE(Close(session).value());
  EXPECT_TRUE(Close(other).value());
  EXPECT_THAT(Step(other, "speedup 1"), Fails(ErrorCode::kClosed, "close"));
  EXPECT_THAT(Close("nothing"), Fails(ErrorCode::kNotFound, "nothing"));
}

TEST_F(RestartTest, ShowsExemplarsAndTheSameOnesForTheSameSeed) {
  for (const char* source : {"speedup 1.0 a", "speedup 1.5 b", "speedup 2.0 c", "speedup 2.5 d", "incorrect"}) {
    ASSERT_TRUE(Score(source).ok());
  }
  ResetRequest reset = ForReset();
  reset.method = "cuda_l1";
  reset.seed = 7;
  const ResetReply first = environment_->Reset(reset).value();
  ASSERT_EQ(first.observation.exemplars.size(), 2U);
  EXPECT_GT(first.exemplars_as_of, 0U);
  for (const Exemplar& exemplar : first.observation.exemplars) {
    EXPECT_THAT(exemplar.source, HasSubstr("speedup"));
    EXPECT_THAT(first.observation.prompt, HasSubstr(exemplar.source));
    EXPECT_GT(exemplar.probability, 0);
  }
  ASSERT_TRUE(Score("speedup 3.0 e").ok());
  Start();
  EXPECT_EQ(Describe(environment_->Reset(reset).value()), Describe(first));
  reset.key = NextKey();
  reset.exemplars_as_of = first.exemplars_as_of;
  EXPECT_EQ(environment_->Reset(reset).value().observation.prompt, first.observation.prompt);

  // The step's record names what its prompt showed.
  const StepReply step = Step(first.session, "incorrect").value();
  const std::vector<std::string> shown = {first.observation.exemplars[0].rollout,
                                          first.observation.exemplars[1].rollout};
  EXPECT_EQ(store_->Read(step.info.rollout).value().exemplars, shown);
  reset.key = NextKey();
  reset.selector = "nothing";
  EXPECT_THAT(environment_->Reset(reset), Fails(ErrorCode::kNotFound, "nothing"));
}

TEST_F(RestartTest, ValidatesWithAFreshKeyAndRecordsIt) {
  const ScoreReply scored = Score("speedup 2").value();
  ValidateRequest request{.key = NextKey(), .rollout = scored.info.rollout};
  const ValidateReply reply = Validate(request).value();
  EXPECT_TRUE(reply.agrees);
  EXPECT_DOUBLE_EQ(reply.ratio, 1);
  EXPECT_FALSE(evaluations_.last().request.key);  // a fresh one
  const RolloutRecord again = store_->Read(reply.again.info.rollout).value();
  EXPECT_EQ(again.parent, scored.info.rollout);
  EXPECT_EQ(again.source, "speedup 2");
  Start();
  EXPECT_EQ(Describe(Validate(request).value()), Describe(reply));
  EXPECT_EQ(evaluations_.submitted(), 2);

  const StepReply step = Step(Session(), "incorrect").value();
  EXPECT_TRUE(Validate(step.info.rollout).value().agrees);
  EXPECT_THAT(Validate("nothing"), Fails(ErrorCode::kNotFound, "nothing"));
}

TEST_F(RestartTest, RefusesToValidateWhatIsNotExactlyKnown) {
  StepRequest request = ForStep(Session(), "");
  request.action.response = "no code";
  EXPECT_THAT(Validate(environment_->Step(request).value().info.rollout),
              Fails(ErrorCode::kInvalidArgument, "holds no candidate"));

  RolloutRecord changed = MakeRollout(1, "softmax");
  changed.result.task_hash = "another";
  ASSERT_TRUE(store_->Append(changed).ok());
  EXPECT_THAT(Validate("r1"), Fails(ErrorCode::kInvalidArgument, "its task has changed"));
}

TEST_F(RestartTest, AValidationThatDisagreesSaysSo) {
  const ScoreReply scored = Score("speedup 2").value();
  RolloutRecord stored = store_->Read(scored.info.rollout).value();
  stored.id = "inflated";
  stored.request.request_id = "inflated";
  stored.result.rewarded_speedup = 4;
  stored.result.speedup.lower = 3.9;
  stored.result.speedup.upper = 4.1;
  ASSERT_TRUE(store_->Append(stored).ok());
  const ValidateReply reply = Validate("inflated").value();
  EXPECT_FALSE(reply.agrees);
  EXPECT_DOUBLE_EQ(reply.ratio, 0.5);
}

// An evaluation whose record cannot be stored leaves the turn where it was.
TEST_F(RestartTest, AKeyOfAnotherCallIsRefusedAndChangesNothing) {
  const std::string session = Session();
  const StepRequest first = ForStep(session, "speedup 2");
  ASSERT_TRUE(environment_->Step(first).ok());
  const std::string other = Session();
  StepRequest clash = ForStep(other, "speedup 2");
  clash.key = first.key;
  EXPECT_FALSE(environment_->Step(clash).ok());
  EXPECT_EQ(Step(other, "speedup 2").value().observation.turn, 1);
}

TEST_F(RestartTest, ATaskThatChangedEndsItsSessions) {
  const std::string session = Session();
  TempFolder tasks;
  std::filesystem::copy(TOUCHSTONE_TASK_FOLDER, tasks.path());
  std::ofstream(tasks.path() + "/softmax.yaml", std::ios::app) << "# changed\n";
  Start({.task_folder = tasks.path(), .method_folder = ""});
  EXPECT_THAT(Step(session, "speedup 2"), Fails(ErrorCode::kClosed, "has changed"));
}

TEST_F(RestartTest, ManyThreadsShareOneSession) {
  const std::string session = Session(1000);
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20;) {
        StepRequest step;
        step.key = {"thread", std::to_string(t) + "." + std::to_string(i)};
        step.session = session;
        step.action.source = "speedup 2";
        const auto reply = environment_->Step(step);
        if (!reply.ok()) {
          EXPECT_EQ(reply.error().code(), ErrorCode::kConflict);
          environment_->CloseIdle(std::chrono::steady_clock::now() + std::chrono::minutes(20));
          continue;
        }
        ++i;
        ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 80);
  const auto rollouts = store_->RolloutsOf(session).value();
  ASSERT_EQ(rollouts.size(), 80U);
  for (int i = 0; i < 80; ++i) EXPECT_EQ(rollouts[static_cast<size_t>(i)].turn, i);
}

}  // namespace
}  // namespace touchstone

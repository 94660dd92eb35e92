// Whole episodes as text, against tests/golden. scripts/regenerate-goldens writes those files; a change of them is a
// change of what policies see.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "env/env.h"
#include "tests/env/episode/fake_evaluations.h"
#include "tests/env/episode/requests.h"
#include "tests/rollout/store_fixture.h"

namespace touchstone {
namespace {

constexpr char kRight[] = "speedup ";

// Results with what such evaluations really say.
EvalResult Judge(const EvaluationJob& job) {
  EvalResult result = FakeEvaluations::BySource(job).value();
  switch (result.status) {
    case EvalStatus::kCompileError:
      result.reason = "candidate.cc:2: error: expected ';' before '}' token";
      result.diagnostics = "candidate.cc:2:12: error: expected ';' before '}' token\n";
      break;
    case EvalStatus::kRuntimeError:
      result.reason = "the candidate's process died of SIGSEGV during a call";
      break;
    case EvalStatus::kTimeout:
      result.reason = "a call took longer than 10 s";
      break;
    case EvalStatus::kIncorrect: {
      result.reason = "output 'y': about 2^7 of 192000 elements are out of tolerance, by up to 2^-3";
      TrialRecord trial{"declared", 0, "y", {}, {}};
      trial.candidate.count = 192000;
      trial.candidate.mismatches = 130;
      trial.candidate.max_abs = 0.11;
      TrialRecord hidden = trial;
      hidden.kind = "hidden_shape";
      result.trials = {trial, hidden};
      break;
    }
    case EvalStatus::kCheating:
      result.reason = "the candidate's box used more CPU time than its turns have";
      result.evidence = {{"extra_cpu", Evidence::Severity::kCondemns, "something ran outside its turns", {}}};
      break;
    case EvalStatus::kUnstable:
      result.reason = "the interval is wider than the profile accepts";
      break;
    default:
      break;
  }
  return result;
}

std::string Number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

class Transcript {
 public:
  Transcript() {
    store_ = OpenStore(folder_.path());
    selector_ = RolloutSelector::Create(*store_).value();
    environment_ = Environment::Create({}, evaluations_, store_.get(), selector_.get()).value();
  }

  void Score(const std::string& task, const std::string& source) {
    ASSERT_TRUE(environment_->Score(ScoreOf(NextKey(), task, source)).ok());
  }

  std::string Play(const std::string& task, const std::string& method, const std::vector<std::string>& responses) {
    ResetRequest reset = ResetOf(NextKey(), task);
    reset.method = method;
    const ResetReply opened = environment_->Reset(reset).value();
    std::string text = "=== reset: task " + task + ", method " + method + ", reward " + opened.reward_preset + "\n" +
                       opened.observation.prompt;
    for (const std::string& response : responses) {
      StepRequest step = StepOf(NextKey(), opened.session, "");
      step.action.response = response;
      const StepReply reply = environment_->Step(step).value();
      text += "=== answer\n" + response + "\n=== step: " + reply.observation.outcome + "; reward " +
              (reply.reward ? Number(*reply.reward) : "none (" + reply.info.terms.why_none + ")") + "; increment " +
              Number(reply.reward_increment) + "; best speedup " + Number(reply.best_speedup) + "; code " +
              std::to_string(reply.info.code_begin) + " … " + std::to_string(reply.info.code_end) +
              (reply.terminated ? "; terminated" : "") + (reply.truncated ? "; truncated" : "") + "\n";
      for (const RewardTerm& term : reply.info.terms.terms) {
        text +=
            "    " + term.name + " = " + (term.value ? Number(*term.value) : "undefined: " + term.why_undefined) + "\n";
      }
      text += "--- feedback\n" + reply.observation.feedback + "--- prompt\n" + reply.observation.prompt;
    }
    return text;
  }

 private:
  RequestKey NextKey() { return {"golden", std::to_string(++requests_)}; }

  TempFolder folder_;
  FakeEvaluations evaluations_{[](const EvaluationJob& job) { return Judge(job); }};
  std::unique_ptr<RolloutStore> store_;
  std::unique_ptr<RolloutSelector> selector_;
  std::unique_ptr<Environment> environment_;
  int requests_ = 0;
};

void Compare(const std::string& name, const std::string& text) {
  const std::string path = std::string(TOUCHSTONE_GOLDEN_FOLDER) + "/" + name + ".txt";
  if (std::getenv("TOUCHSTONE_REGENERATE_GOLDENS") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  const std::string golden((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, golden) << "where this is meant: scripts/regenerate-goldens";
}

std::string Code(const std::string& source) { return "So:\n```cpp\n" + source + "\n```\n"; }

TEST(Golden, EveryOutcome) {
  std::vector<std::string> responses = {"I do not know.", "```cpp\nint a;"};
  for (const char* source : {"rejected_static", "compile_error", "load_error", "runtime_error", "timeout",
                             "out_of_memory", "incorrect", "cheating", "below_floor", "unstable", "unverified",
                             "environment_error", "deadline", "speedup 0.8", "speedup 1.5", "speedup 1.25"}) {
    responses.push_back(Code(source));
  }
  Compare("every_outcome", Transcript().Play("softmax", "cuda_agent", responses));
}

TEST(Golden, Kevin) {
  Compare("kevin",
          Transcript().Play("adamw_step", "kevin",
                            {Code("compile_error"), Code("incorrect"), Code("speedup 1.5"), Code("speedup 2.25")}));
}

TEST(Golden, Contrastive) {
  Transcript transcript;
  for (const char* speedup : {"1.1", "1.6", "2.4"}) transcript.Score("histogram", kRight + std::string(speedup));
  Compare("contrastive", transcript.Play("histogram", "cuda_l1", {Code("speedup 1.5")}));
}

}  // namespace
}  // namespace touchstone

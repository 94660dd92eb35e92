// Attack: read what must stay secret (V14) out of everything that an environment says. The control: the same words do
// stand in what it keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/env.h"
#include "tests/env/episode/describe.h"
#include "tests/env/episode/fake_evaluations.h"
#include "tests/env/episode/requests.h"
#include "tests/rollout/store_fixture.h"

namespace touchstone {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kKey[] = "5ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2";

// Each is a value that no other field has.
const std::vector<std::string> kSecrets = {
    kKey,            // the judge's key
    "48271",         // elements of a hidden shape
    "31337",         // the first wrong element
    "0.1234567",     // exact error of a hidden trial
    "0.7654321",     // exact error of a declared one
    "3.1415926535",  // size of the expected values
    "777.125",       // a round
    "1.2345678",     // the bound from single calls
    "the-host",      // where it ran
    "0.0271828",     // a calibration
    "123.456789",    // a number of a finding
    "555.0625",      // the baseline before the candidate was loaded
};

CompareReport Report(uint64_t count, double max_abs) {
  CompareReport report;
  report.count = count;
  report.mismatches = 5;
  report.first_mismatch = 31337;
  report.max_abs = max_abs;
  report.max_rel = max_abs;
  report.rms_error = max_abs;
  report.rms_expected = 3.1415926535;
  return report;
}

EvalResult WithSecrets(const EvaluationJob& job, EvalStatus status) {
  EvalResult result = FakeEvaluations::ResultFor(job, status, status == EvalStatus::kSuccess ? 1.5 : 0);
  result.key_hex = kKey;
  result.reason = "a class of failure";
  result.trials = {{"declared", 0, "y", Report(192000, 0.7654321), Report(192000, 0.7654321)},
                   {"hidden_shape", 0, "y", Report(48271, 0.1234567), Report(48271, 0.1234567)},
                   {"hidden_distribution", 0, "y", Report(192000, 0.1234567), {}},
                   {"window", 0, "y", Report(192000, 0.1234567), {}}};
  result.evidence = {{"guard_damaged", Evidence::Severity::kCondemns, "damaged", {{"bytes", 123.456789}}},
                     {"solo_bound", Evidence::Severity::kSuspicious, "slower alone", {{"bytes", 123.456789}}}};
  RoundRecord round;
  round.baseline_us = 777.125;
  round.candidate_us = 777.125;
  result.rounds.assign(20, round);
  result.solo_upper_bound = 1.2345678;
  result.baseline_alone_us = 555.0625;
  result.calibration["handover_us"] = 0.0271828;
  result.environment["host"] = "the-host";
  return result;
}

TEST(Secrets, AreInNothingThatAnEnvironmentSays) {
  TempFolder folder;
  const auto store = OpenStore(folder.path());
  EvalStatus status = EvalStatus::kSuccess;
  FakeEvaluations evaluations([&](const EvaluationJob& job) { return WithSecrets(job, status); });
  const auto environment = Environment::Create({}, evaluations, store.get(), nullptr).value();
  int requests = 0;
  const auto key = [&] { return RequestKey{"attacker", std::to_string(++requests)}; };
  for (const char* preset : {"speedup_lcb", "cuda_l1", "kevin", "drkernel_code"}) {
    ResetRequest reset = ResetOf(key(), "softmax");
    reset.reward = preset;
    reset.max_turns = 1000;
    const ResetReply opened = environment->Reset(reset).value();
    for (int i = 0; i <= static_cast<int>(EvalStatus::kDeadline); ++i) {
      status = static_cast<EvalStatus>(i);
      const StepRequest step = StepOf(key(), opened.session, "x");
      const StepReply reply = environment->Step(step).value();
      const ScoreRequest score = ScoreOf(key(), "softmax", "x");
      const std::string said = Describe(reply) + Describe(environment->Score(score).value()) +
                               Describe(environment->FindStep(step.key).value().value());
      const std::string kept = ToJson(store->Read(reply.info.rollout).value().result).dump();
      for (const std::string& secret : kSecrets) {
        EXPECT_THAT(said, Not(HasSubstr(secret))) << ToString(status);
        EXPECT_THAT(kept, HasSubstr(secret)) << "control";
      }
    }
  }
}

// The shapes and values of hidden trials, as a task's author wrote them.
TEST(Secrets, OfATaskAreNotInItsStatement) {
  TempFolder folder;
  std::ifstream original(std::string(TOUCHSTONE_TASK_FOLDER) + "/softmax.yaml");
  std::string yaml((std::istreambuf_iterator<char>(original)), std::istreambuf_iterator<char>());
  yaml.resize(yaml.find("hidden:"));
  yaml +=
      "hidden:\n  shapes:\n    rows: {low: 7919, high: 15485863}\n  distributions:\n"
      "    - x: {family: uniform, low: -31.41592, high: 27.18281}\n";
  std::ofstream(folder.path() + "/softmax.yaml") << yaml;
  FakeEvaluations evaluations;
  EnvironmentOptions options;
  options.task_folder = folder.path();
  const auto environment = Environment::Create(options, evaluations, nullptr, nullptr).value();
  const ResetReply reply = environment->Reset(ResetOf({"attacker", "1"}, "softmax")).value();
  for (const char* secret : {"7919", "15485863", "31.41592", "27.18281"}) {
    EXPECT_THAT(Describe(reply), Not(HasSubstr(secret)));
    EXPECT_THAT(yaml, HasSubstr(secret)) << "control";
  }
}

}  // namespace
}  // namespace touchstone

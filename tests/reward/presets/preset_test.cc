#include "reward/presets/preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace touchstone {
namespace {

using ::testing::HasSubstr;

constexpr EvalStatus kAllStatuses[] = {
    EvalStatus::kFormatError,  EvalStatus::kRejectedStatic,   EvalStatus::kCompileError, EvalStatus::kLoadError,
    EvalStatus::kRuntimeError, EvalStatus::kTimeout,          EvalStatus::kOutOfMemory,  EvalStatus::kIncorrect,
    EvalStatus::kCheating,     EvalStatus::kBelowFloor,       EvalStatus::kSuccess,      EvalStatus::kUnstable,
    EvalStatus::kUnverified,   EvalStatus::kEnvironmentError, EvalStatus::kCancelled,    EvalStatus::kDeadline,
};

EvalResult Timed(EvalStatus status, double speedup, double lower) {
  EvalResult result;
  result.status = status;
  result.phase = "verdict";
  result.speedup.speedup = speedup;
  result.rewarded_speedup = speedup;
  result.rewarded_lower_bound = lower;
  for (int i = 0; i < 14 && speedup > 0; ++i) {
    RoundRecord round;
    round.start = i / 7;
    round.round = i % 7;
    round.baseline_us = 100 * speedup;
    round.candidate_us = 100;
    result.rounds.push_back(round);
  }
  return result;
}

EvalResult Failed(EvalStatus status, const std::string& phase) {
  EvalResult result;
  result.status = status;
  result.phase = phase;
  return result;
}

Reward Of(std::string_view preset, const EvalResult& result, double best_before = 0) {
  return FindRewardPreset(preset).value()->compute(result, best_before);
}

struct Row {
  const char* preset;
  EvalResult result;
  std::optional<double> reward;
  const char* source;  // where the number comes from
};

// Computed by hand from the formulas of the sources (docs/rewards.md).
TEST(RewardPresets, GiveWhatTheirSourcesSay) {
  const EvalResult compile_error = Failed(EvalStatus::kCompileError, "compile");
  const EvalResult compile_timeout = Failed(EvalStatus::kTimeout, "compile");
  const EvalResult crash = Failed(EvalStatus::kRuntimeError, "correctness");
  const EvalResult hang = Failed(EvalStatus::kTimeout, "correctness");
  const EvalResult wrong = Failed(EvalStatus::kIncorrect, "correctness");
  const EvalResult cheat = Failed(EvalStatus::kCheating, "measure");
  const EvalResult too_fast = Timed(EvalStatus::kBelowFloor, 0, 0);
  const EvalResult faster = Timed(EvalStatus::kSuccess, 1.5, 1.4);
  const EvalResult slower = Timed(EvalStatus::kSuccess, 0.5, 0.4);
  const EvalResult four = Timed(EvalStatus::kSuccess, 4, 3.9);
  const EvalResult unstable = Timed(EvalStatus::kUnstable, 1.2, 1.2);  // both are the lower bound
  const EvalResult too_few = Timed(EvalStatus::kUnstable, 0, 0);
  const EvalResult unverified = Timed(EvalStatus::kUnverified, 0, 0);
  const EvalResult checked = Timed(EvalStatus::kSuccess, 0, 0);  // a profile without timing

  const std::vector<Row> rows = {
      {"binary", faster, 1.0, "CUDA-L1 2.3: success"},
      {"binary", checked, 1.0, "CUDA-L1 2.3: executable and correct, no timing"},
      {"binary", wrong, 0.0, "CUDA-L1 2.3: not correct"},
      {"binary", cheat, 0.0, "CUDA-L1 2.3: not a success"},
      {"binary", unstable, 1.0, "V13: correct"},

      {"speedup", faster, 1.5, "s"},
      {"speedup", slower, 0.5, "s"},
      {"speedup", wrong, 0.0, "s is 0 without success"},
      {"speedup", unstable, 1.2, "V13: by its lower bound"},
      {"speedup", too_few, 0.0, "V13: no bound"},
      {"speedup", unverified, 0.0, "no speedup is believed"},
      {"speedup", checked, std::nullopt, "nothing was timed"},

      {"speedup_lcb", faster, 1.4, "lower end"},
      {"speedup_lcb", slower, 0.4, "lower end"},
      {"speedup_lcb", crash, 0.0, "s is 0 without success"},
      {"speedup_lcb", unstable, 1.2, "V13"},
      {"speedup_lcb", checked, std::nullopt, "nothing was timed"},

      {"kevin", faster, 1.8, "Kevin 3.1: 0.3 + 1.5"},
      {"kevin", slower, 0.8, "Kevin 3.1: 0.3 + 0.5"},
      {"kevin", wrong, 0.0, "Kevin 3.1: 0 when not correct"},
      {"kevin", compile_error, 0.0, "Kevin 4: no reward for compiling"},
      {"kevin", too_few, 0.3, "Kevin 3.1: correct, speedup 0"},
      {"kevin", unstable, 1.5, "Kevin 3.1: 0.3 + 1.2"},

      {"kernrl", compile_error, -0.5, "kernrl: compilation fails"},
      {"kernrl", compile_timeout, -0.5, "kernrl: compilation fails"},
      {"kernrl", wrong, -0.25, "kernrl: incorrect"},
      {"kernrl", crash, -0.25, "kernrl: incorrect"},
      {"kernrl", hang, -0.25, "kernrl: incorrect"},
      {"kernrl", cheat, -0.25, "kernrl: incorrect"},
      {"kernrl", slower, -0.25, "kernrl: 0.5 (0.5 - 1)"},
      {"kernrl", faster, 0.5, "kernrl: 1.5 - 1"},
      {"kernrl", four, 2.0, "kernrl: min(4 - 1, 2)"},

      {"cuda_agent", wrong, -1.0, "CUDA Agent: incorrect"},
      {"cuda_agent", compile_error, -1.0, "CUDA Agent: incorrect"},
      {"cuda_agent", slower, 1.0, "CUDA Agent: correct"},
      {"cuda_agent", Timed(EvalStatus::kSuccess, 1.05, 1), 1.0, "CUDA Agent: 1 - 1/1.05 = 4.8 %, not above 5 %"},
      {"cuda_agent", Timed(EvalStatus::kSuccess, 1.06, 1), 2.0, "CUDA Agent: 1 - 1/1.06 = 5.7 %"},
      {"cuda_agent", too_few, 1.0, "CUDA Agent: correct"},

      {"autotriton", faster, 1.0, "AutoTriton: rule and passed"},
      {"autotriton", checked, 1.0, "AutoTriton: rule and passed"},
      {"autotriton", wrong, 0.0, "AutoTriton: not passed"},
      {"autotriton", Failed(EvalStatus::kRejectedStatic, ""), 0.0, "AutoTriton: the rule is broken"},

      {"drkernel_code", faster, 1.25, "KernelGYM: 0.5 + 0.5 * 1.5"},
      {"drkernel_code", four, 2.0, "KernelGYM: 0.5 + 0.5 * min(4, 3)"},
      {"drkernel_code", wrong, 0.0, "KernelGYM: penalty_score 0.0"},
      {"drkernel_code", too_few, 0.5, "KernelGYM: correct, speedup 0"},

      {"cuda_l1", faster, 1.5, "CUDA-L1 2.4.4: the median of seven means of 1.5"},
      {"cuda_l1", slower, 0.5, "CUDA-L1 2.4.4"},
      {"cuda_l1", wrong, 0.0, "CUDA-L1 2.1: 0 without success"},
      {"cuda_l1", unstable, std::nullopt, "CUDA-L1 2.4.4: discards"},
      {"cuda_l1", unverified, std::nullopt, "CUDA-L1 2.4.4: rejects"},
      {"cuda_l1", checked, std::nullopt, "no rounds"},
  };
  for (const Row& row : rows) {
    const Reward reward = Of(row.preset, row.result);
    SCOPED_TRACE(std::string(row.preset) + ", " + std::string(ToString(row.result.status)) + ": " + row.source);
    ASSERT_EQ(reward.value.has_value(), row.reward.has_value());
    if (row.reward) {
      EXPECT_DOUBLE_EQ(*reward.value, *row.reward);
    }
  }
}

TEST(RewardPresets, AreDefinedForEveryStatusAndStayInTheirRange) {
  for (const RewardPreset& preset : RewardPresets()) {
    for (const EvalStatus status : kAllStatuses) {
      for (const double speedup : {0.0, 1e-9, 0.3, 1.0, 1.04, 2.9, 3.1, 1e9}) {
        for (const double best_before : {0.0, 0.01, 5.0}) {
          const Reward reward = preset.compute(Timed(status, speedup, speedup * 0.9), best_before);
          SCOPED_TRACE(std::string(preset.name) + ", " + std::string(ToString(status)));
          EXPECT_EQ(reward.value.has_value(), reward.why_none.empty());
          for (const RewardTerm& term : reward.terms) EXPECT_EQ(term.value.has_value(), term.why_undefined.empty());
          if (!reward.value) continue;
          EXPECT_TRUE(std::isfinite(*reward.value));
          EXPECT_GE(*reward.value, preset.low);
          EXPECT_LE(*reward.value, preset.high);
        }
      }
    }
  }
}

TEST(RewardPresets, GiveNothingForWhatTheCandidateDidNotDo) {
  for (const RewardPreset& preset : RewardPresets()) {
    for (const EvalStatus status : {EvalStatus::kEnvironmentError, EvalStatus::kCancelled, EvalStatus::kDeadline}) {
      const Reward reward = preset.compute(Timed(status, 2, 1.9), 0);
      EXPECT_FALSE(reward.value) << preset.name;
      EXPECT_THAT(reward.why_none, HasSubstr(std::string(ToString(status))));
    }
  }
}

// A failure of the candidate is worth no more than being right and slow, and is never nothing.
TEST(RewardPresets, LetNoFailureOfTheCandidateBuyANeutralOutcome) {
  for (const RewardPreset& preset : RewardPresets()) {
    for (const EvalStatus status : kAllStatuses) {
      const EvalResult failed = Failed(status, "measure");
      if (failed.fault() != Fault::kCandidate) continue;
      const Reward reward = preset.compute(failed, 0);
      SCOPED_TRACE(std::string(preset.name) + ", " + std::string(ToString(status)));
      ASSERT_TRUE(reward.value);
      EXPECT_LT(*reward.value, *preset.compute(Timed(EvalStatus::kSuccess, 0.6, 0.5), 0).value);
    }
  }
}

TEST(RewardPresets, SayWhichTermsCannotBeComputed) {
  const EvalResult success = Timed(EvalStatus::kSuccess, 1.5, 1.4);
  const std::pair<const char*, const char*> absent[] = {{"drkernel_code", "time_coverage"},
                                                        {"cuda_agent", "faster_than_compiled"}};
  for (const auto& [preset, name] : absent) {
    const Reward reward = Of(preset, success);
    bool found = false;
    for (const RewardTerm& term : reward.terms) {
      if (term.name != name) continue;
      found = true;
      EXPECT_FALSE(term.value);
      EXPECT_FALSE(term.why_undefined.empty());
    }
    EXPECT_TRUE(found) << preset;
  }
}

TEST(RewardPresets, AreFoundByNameAndListedWhereTheyAreNot) {
  EXPECT_EQ(FindRewardPreset("kevin").value()->name, "kevin");
  const auto missing = FindRewardPreset("kelvin");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  for (const RewardPreset& preset : RewardPresets()) {
    EXPECT_THAT(missing.error().message(), HasSubstr(std::string(preset.name)));
  }
}

TEST(RewardIncrement, SumsToTheBest) {
  const std::vector<std::vector<std::optional<double>>> episodes = {
      {-0.5, -0.25, 0.4, 0.1, 2.0}, {std::nullopt, -0.5, std::nullopt, -0.25}, {1.5, 0.2}, {0.0, 0.0}};
  const std::vector<double> best = {2.0, -0.25, 1.5, 0.0};
  for (size_t i = 0; i < episodes.size(); ++i) {
    std::optional<double> best_before;
    double sum = 0;
    for (const auto& reward : episodes[i]) {
      sum += RewardIncrement(best_before, reward);
      if (reward && (!best_before || *reward > *best_before)) best_before = reward;
    }
    EXPECT_DOUBLE_EQ(sum, best[i]);
  }
  EXPECT_EQ(RewardIncrement(std::nullopt, std::nullopt), 0);
}

std::string Bound(double value) {
  if (std::isinf(value)) return "∞";
  std::ostringstream text;
  text << (value < 0 ? "−" : "") << std::fabs(value);
  return text.str();
}

TEST(RewardsDocument, NamesEveryPresetWithItsRange) {
  std::ifstream file(TOUCHSTONE_REWARDS_DOC);
  const std::string doc((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(doc.empty());
  size_t rows = 0;
  std::istringstream lines(doc);
  for (std::string line; std::getline(lines, line);) rows += line.rfind("| `", 0) == 0;
  for (const RewardPreset& preset : RewardPresets()) {
    const std::string begin =
        "| `" + std::string(preset.name) + "` | " + Bound(preset.low) + " … " + Bound(preset.high) + " |";
    EXPECT_THAT(doc, HasSubstr(begin));
  }
  EXPECT_EQ(rows, RewardPresets().size());
}

}  // namespace
}  // namespace touchstone

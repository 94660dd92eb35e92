// Candidates that want what they do not deserve. None of them may be accepted, or be paid more than its honest twin;
// and the twins must be accepted. Times are never asserted, only statuses, evidence and bounds: the host may be busy.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/hostile/candidates.h"
#include "tests/hostile/naive_harness.h"
#include "tests/hostile/slot.h"

namespace touchstone {
namespace {

// Noise of a busy host may move a ratio of medians by this much.
constexpr double kNoise = 1.5;

// The program's one slot, made by the first test that asks.
class Slot {
 public:
  static Slot& Get() {
    static Slot slot;
    return slot;
  }

  EvalResult Evaluate(const std::string& task, const std::string& file, bool timed) {
    const std::string source = CandidateSource(file);
    EXPECT_FALSE(source.empty()) << file;
    auto result = evaluator_->Evaluate(MakeRequest(TaskOf(task), source, timed));
    TOUCHSTONE_CHECK(result.ok(), result.error().message());
    return *result;
  }

  // More than an honest candidate's best round came to.
  double HonestBound(const std::string& task, const std::string& twin) {
    auto [bound, fresh] = bounds_.try_emplace(twin, 0);
    if (!fresh) return bound->second;
    const EvalResult honest = Evaluate(task, twin, true);
    EXPECT_TRUE(honest.status == EvalStatus::kSuccess || honest.status == EvalStatus::kUnstable) << Describe(honest);
    for (const RoundRecord& round : honest.rounds) {
      if (!round.solo) bound->second = std::max(bound->second, kNoise * round.baseline_us / round.candidate_us);
    }
    return bound->second;
  }

  NaiveVerdict Naive(const std::string& task, const std::string& file, bool reference_last) {
    auto artifact = BuiltArtifact(cache_, TaskOf(task), CandidateSource(file));
    TOUCHSTONE_CHECK(artifact.ok(), artifact.error().message());
    auto verdict = JudgeNaively(artifact->get(), task, reference_last);
    TOUCHSTONE_CHECK(verdict.ok(), verdict.error().message());
    return *verdict;
  }

  const Task& TaskOf(const std::string& id) {
    auto known = tasks_.find(id);
    if (known == tasks_.end()) {
      auto task = FindTask(id);
      TOUCHSTONE_CHECK(task.ok(), task.error().message());
      known = tasks_.emplace(id, std::move(*task)).first;
    }
    return known->second;
  }
  const CacheFolder& cache() const { return cache_; }

 private:
  Slot() {
    auto evaluator = Evaluator::Create(SlotOptions(cache_));
    TOUCHSTONE_CHECK(evaluator.ok(), evaluator.error().message());
    evaluator_ = std::move(*evaluator);
  }

  CacheFolder cache_;
  std::unique_ptr<Evaluator> evaluator_;
  std::map<std::string, Task> tasks_;
  std::map<std::string, double> bounds_;
};

class Hostile : public ::testing::TestWithParam<HostileCase> {};

TEST_P(Hostile, GetsWhatItDeserves) {
  const HostileCase& c = GetParam();
  const EvalResult result = Slot::Get().Evaluate(c.task, c.file, c.timed);
  EXPECT_TRUE(c.expected.contains(result.status)) << Describe(result);
  // Whatever it does, it is never the environment's fault, and only `success` pays.
  EXPECT_NE(result.fault(), Fault::kEnvironment) << Describe(result);
  if (!c.evidence.empty()) {
    EXPECT_TRUE(std::any_of(result.evidence.begin(), result.evidence.end(), [&](const Evidence& evidence) {
      return evidence.id == c.evidence;
    })) << Describe(result);
  }
  if (c.timed && c.expected.contains(EvalStatus::kSuccess)) {
    const double bound = Slot::Get().HonestBound(c.task, c.twin);
    EXPECT_LE(result.rewarded_speedup, bound) << Describe(result);
    // A busy host makes the reward small for everybody; the estimate itself must not be above the twin's, either.
    EXPECT_LE(result.speedup.speedup, bound) << Describe(result);
  } else {
    EXPECT_EQ(result.rewarded_speedup, 0) << Describe(result);
  }

  if (c.control == Control::kNone) return;
  const NaiveVerdict naive = Slot::Get().Naive(c.task, c.file, c.control == Control::kAcceptedByRefLast);
  EXPECT_TRUE(naive.accepted) << "not an attack: a naive harness sees it, too";
  if (c.control != Control::kRewarded) return;
  const NaiveVerdict honest = Slot::Get().Naive(c.task, c.twin, false);
  EXPECT_TRUE(honest.accepted);
  EXPECT_LT(naive.best_us, honest.best_us / 2) << "not an attack: a naive harness does not pay it";
}

INSTANTIATE_TEST_SUITE_P(Candidates, Hostile, ::testing::ValuesIn(HostileCases()),
                         [](const auto& test) { return test.param.Name(); });

class HonestTwin : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(HonestTwin, IsAccepted) {
  const auto& [task, file] = GetParam();
  const EvalResult checked = Slot::Get().Evaluate(task, file, false);
  EXPECT_EQ(checked.status, EvalStatus::kSuccess) << Describe(checked);
  const EvalResult timed = Slot::Get().Evaluate(task, file, true);
  // Too noisy a host is nobody's fault.
  EXPECT_TRUE(timed.status == EvalStatus::kSuccess || timed.status == EvalStatus::kUnstable) << Describe(timed);
  EXPECT_TRUE(std::none_of(timed.evidence.begin(), timed.evidence.end(), [](const Evidence& evidence) {
    return evidence.severity == Evidence::Severity::kCondemns;
  })) << Describe(timed);
}

std::vector<std::pair<std::string, std::string>> Twins() {
  std::map<std::string, std::string> twins;
  for (const HostileCase& c : HostileCases()) twins[c.twin] = c.task;
  std::vector<std::pair<std::string, std::string>> by_task;
  for (const auto& [twin, task] : twins) by_task.emplace_back(task, twin);
  std::sort(by_task.begin(), by_task.end());
  return by_task;
}

INSTANTIATE_TEST_SUITE_P(All, HonestTwin, ::testing::ValuesIn(Twins()),
                         [](const auto& test) { return test.param.second; });

}  // namespace
}  // namespace touchstone

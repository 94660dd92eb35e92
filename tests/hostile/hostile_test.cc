// Candidates that want what they do not deserve. None of them may be accepted, or be paid more than its honest twin;
// and the twins must be accepted. Times are never asserted, only statuses, evidence and bounds: the host may be busy.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <thread>

#include "tests/hostile/candidates.h"
#include "tests/hostile/naive_harness.h"
#include "tests/hostile/process_tree.h"
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
    return Evaluate(MakeRequest(TaskOf(task), CandidateSource(file), timed));
  }
  EvalResult Evaluate(const EvalRequest& request) { return Ask(*evaluator_, request); }

  // In boxes that lack some layers.
  EvalResult EvaluateWithout(std::initializer_list<Layer> layers, const std::string& task, const std::string& file,
                             bool timed) {
    EvaluatorOptions options = SlotOptions(cache_);
    options.minimum_level = Level::kNone;
    for (const Layer layer : layers) options.disable_for_tests.Add(layer);
    auto evaluator = Evaluator::Create(options);
    TOUCHSTONE_CHECK(evaluator.ok(), evaluator.error().message());
    return Ask(**evaluator, MakeRequest(TaskOf(task), CandidateSource(file), timed));
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

 private:
  static EvalResult Ask(Evaluator& evaluator, const EvalRequest& request) {
    EXPECT_FALSE(request.source.empty());
    auto result = evaluator.Evaluate(request);
    TOUCHSTONE_CHECK(result.ok(), result.error().message());
    return *result;
  }

  Slot() {
    AdoptOrphans();
    auto evaluator = Evaluator::Create(SlotOptions(cache_));
    TOUCHSTONE_CHECK(evaluator.ok(), evaluator.error().message());
    evaluator_ = std::move(*evaluator);
  }

  CacheFolder cache_;
  std::unique_ptr<Evaluator> evaluator_;
  std::map<std::string, Task> tasks_;
  std::map<std::string, double> bounds_;
};

double MedianSpeedup(const EvalResult& result, bool charged) {
  std::vector<double> ratios;
  for (const RoundRecord& round : result.rounds) {
    if (round.solo) continue;
    const double charge_us = std::max(0.0, round.candidate_handover_us - result.calibration.at("handover_us"));
    const double candidate_us = round.candidate_us - (charged ? 0 : charge_us / round.calls);
    ratios.push_back(round.baseline_us / std::max(candidate_us, 1e-3));
  }
  return ratios.empty() ? 0 : Median(ratios);
}

// Fails when the candidate is no attack, because nothing of ours is needed to stop it.
void CheckControl(const HostileCase& c, const EvalResult& result) {
  Slot& slot = Slot::Get();
  switch (c.control) {
    case Control::kNone:
      return;
    case Control::kAccepted:
    case Control::kAcceptedByRefLast:
    case Control::kRewarded: {
      const NaiveVerdict naive = slot.Naive(c.task, c.file, c.control == Control::kAcceptedByRefLast);
      EXPECT_TRUE(naive.accepted) << "a naive harness sees it, too";
      if (c.control != Control::kRewarded) return;
      const NaiveVerdict honest = slot.Naive(c.task, c.twin, false);
      EXPECT_TRUE(honest.accepted);
      EXPECT_LT(naive.best_us, honest.best_us / 2) << "a naive harness does not pay it";
      return;
    }
    case Control::kHandOver:
      EXPECT_GT(MedianSpeedup(result, false), slot.HonestBound(c.task, c.twin)) << Describe(result);
      return;
    case Control::kFreezer: {
      // It may look at a set in the middle of a fill, and then spoil it: that is its risk, not our protection.
      double speedup = 0;
      for (int attempt = 0; attempt < 5 && speedup <= slot.HonestBound(c.task, c.twin); ++attempt) {
        speedup = MedianSpeedup(slot.EvaluateWithout({Layer::kFreezer}, c.task, c.file, c.timed), true);
      }
      EXPECT_GT(speedup, slot.HonestBound(c.task, c.twin));
      return;
    }
    case Control::kLoad: {
      double slower = 0;
      // Where the host is busy itself, the baseline alone may be slow, too.
      for (int attempt = 0; attempt < 3 && slower < kNoise; ++attempt) {
        const EvalResult open = slot.EvaluateWithout({Layer::kFreezer, Layer::kCpuSet}, c.task, c.file, c.timed);
        std::vector<double> beside;
        for (const RoundRecord& round : open.rounds) {
          if (!round.solo) beside.push_back(round.baseline_us);
        }
        if (!beside.empty() && open.baseline_alone_us > 0) slower = Median(beside) / open.baseline_alone_us;
      }
      EXPECT_GT(slower, kNoise) << "it slows nothing";
      return;
    }
    case Control::kFileSystem: {
      const EvalResult open = slot.EvaluateWithout({Layer::kMountNamespace, Layer::kLandlock}, c.task, c.file, false);
      EXPECT_EQ(open.status, EvalStatus::kIncorrect) << Describe(open);
      return;
    }
    case Control::kFilter: {
      const EvalResult open = slot.EvaluateWithout({Layer::kSeccomp}, c.task, c.file, false);
      EXPECT_EQ(open.status, EvalStatus::kIncorrect) << Describe(open);
      return;
    }
  }
}

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

  // The candidate's box is gone, with all that it has started.
  for (const FoundProcess& found : Descendants()) EXPECT_NE(found.role, Role::kCandidate) << found.name;
  CheckControl(c, result);
}

INSTANTIATE_TEST_SUITE_P(Candidates, Hostile, ::testing::ValuesIn(HostileCases()),
                         [](const auto& test) { return test.param.Name(); });

// Who makes every round void does not own the slot: the budget ends it, long before the rounds are used up.
TEST(HostileBudget, EndsAMeasurementWithoutValidRounds) {
  Slot& slot = Slot::Get();
  EvalRequest request = MakeRequest(slot.TaskOf("add"), CandidateSource("voids_every_round"), true);
  request.profile.max_rounds = 200;
  request.profile.total_budget = std::chrono::milliseconds(2000);
  const EvalResult result = slot.Evaluate(request);
  EXPECT_EQ(result.status, EvalStatus::kUnstable) << Describe(result);
  EXPECT_EQ(result.rewarded_speedup, 0);
  EXPECT_LT(result.rounds.size(), 100U);
}

// Who is slow while the windows are sized gets short ones, in which a hand-over counts for much, but only until it is
// fast.
TEST(HostileWindows, GrowAgainWhenACandidateGetsFast) {
  const EvalResult result = Slot::Get().Evaluate("add", "slow_in_the_warm_up", true);
  std::vector<int> calls;
  for (const RoundRecord& round : result.rounds) {
    if (!round.solo) calls.push_back(round.calls);
  }
  ASSERT_GT(calls.size(), 1U) << Describe(result);
  EXPECT_GT(calls.back(), calls.front()) << "the control: the first window is short";
}

const Evidence* Find(const EvalResult& result, const std::string& id) {
  const auto found = std::find_if(result.evidence.begin(), result.evidence.end(),
                                  [&](const Evidence& evidence) { return evidence.id == id; });
  return found == result.evidence.end() ? nullptr : &*found;
}

// Who kills itself is known for it at once.
TEST(HostileDeath, ByItsOwnSigkillNeedsNoSecondAttempt) {
  const EvalResult result = Slot::Get().Evaluate("add", "kills_itself", false);
  EXPECT_EQ(result.status, EvalStatus::kRuntimeError) << Describe(result);
  EXPECT_NE(result.reason.find("SIGSYS"), std::string::npos) << result.reason;
  // The control: a SIGKILL that nobody in the box sent may be somebody else's, and is asked about again.
  const EvalResult control = Slot::Get().Evaluate("add", "lets_a_timer_kill_it", false);
  EXPECT_NE(control.reason.find("failed twice"), std::string::npos) << control.reason;
}

// A second attempt is no second draw: it pays by its lower bound.
TEST(HostileDeath, DoesNotChooseTheLuckierMeasurement) {
  Slot& slot = Slot::Get();
  EvalRequest request = MakeRequest(slot.TaskOf("add"), CandidateSource("gives_up_half_of_its_measurements"), true);
  request.profile.measure_unstable_again = false;
  for (int evaluation = 0; evaluation < 40; ++evaluation) {
    const EvalResult result = slot.Evaluate(request);
    if (Find(result, "second_attempt") == nullptr || result.rewarded_speedup == 0) continue;
    EXPECT_EQ(result.rewarded_speedup, result.rewarded_lower_bound) << Describe(result);
    EXPECT_LT(result.rewarded_speedup, result.speedup.speedup) << "the control: its luck would have paid more";
    return;
  }
  ADD_FAILURE() << "it never died in the first of two attempts";
}

// The honest twin: somebody else kills it. That costs it no more than the width of the interval.
TEST(HostileDeath, BySomebodyElseIsForgiven) {
  Slot& slot = Slot::Get();
  std::atomic<bool> killed = false;
  std::thread killer([&] {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!killed && std::chrono::steady_clock::now() < deadline) {
      for (const FoundProcess& found : Descendants()) {
        if (found.role == Role::kCandidate && !found.zombie && !killed) killed = ::kill(found.pid, SIGKILL) == 0;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const EvalResult result = slot.Evaluate("add", "honest_add", true);
  killer.join();
  ASSERT_TRUE(killed);
  EXPECT_TRUE(result.status == EvalStatus::kSuccess || result.status == EvalStatus::kUnstable) << Describe(result);
  EXPECT_NE(Find(result, "second_attempt"), nullptr) << Describe(result);
  EXPECT_EQ(result.rewarded_speedup, result.rewarded_lower_bound);
}

// A neutral outcome cannot be bought: what is unstable is measured again, and then scored by its lower bound.
TEST(HostileNoise, IsMeasuredAgainAndPaidByItsLowerBound) {
  Slot& slot = Slot::Get();
  EvalRequest request = MakeRequest(slot.TaskOf("add"), CandidateSource("slow_every_other_moment"), true);
  const EvalResult result = slot.Evaluate(request);
  EXPECT_NE(Find(result, "measured_again"), nullptr) << Describe(result);
  EXPECT_LE(result.rewarded_speedup, slot.HonestBound("add", "honest_add"));
  if (result.status == EvalStatus::kUnstable) {
    EXPECT_EQ(result.rewarded_speedup, result.rewarded_lower_bound) << Describe(result);
  }
  const auto first = [](const RoundRecord& round) { return round.void_reason == "of a measurement that was unstable"; };
  EXPECT_TRUE(std::any_of(result.rounds.begin(), result.rounds.end(), first));
  // The control: a method that discards such results says so in its profile, and sees the first one.
  request.profile.measure_unstable_again = false;
  const EvalResult once = slot.Evaluate(request);
  EXPECT_EQ(once.status, EvalStatus::kUnstable) << Describe(once);
  EXPECT_EQ(Find(once, "measured_again"), nullptr);
}

// Nothing that a process has learnt in a hidden trial leaves the box in words or numbers of its choice.
TEST(HostileWords, OfHiddenTrialsStayInTheBox) {
  Slot& slot = Slot::Get();
  const EvalResult told = slot.Evaluate("add", "tells_hidden_shapes", true);
  EXPECT_EQ(told.phase, "measure") << Describe(told);
  EXPECT_EQ(told.diagnostics, "");
  const EvalResult coded = slot.Evaluate("add", "exits_with_a_hidden_shape", false);
  EXPECT_EQ(coded.reason.find("code"), std::string::npos) << coded.reason;
}

// The control: in a declared trial both are told, cleaned of what is not text.
TEST(HostileWords, OfDeclaredTrialsAreTold) {
  Slot& slot = Slot::Get();
  const EvalResult told = slot.Evaluate("add", "forges_the_status", false);
  EXPECT_FALSE(told.diagnostics.empty());
  EXPECT_TRUE(std::all_of(told.diagnostics.begin(), told.diagnostics.end(),
                          [](char c) { return c == '\n' || c == '\t' || (c >= ' ' && c <= '~'); }));
  const EvalResult coded = slot.Evaluate("add", "exits_in_run", false);
  EXPECT_NE(coded.reason.find("code 0"), std::string::npos) << coded.reason;
}

// A compiler error quotes the file that it is about: without a box, one of the host.
TEST(HostileSource, QuotesNoFileOfTheHost) {
  const EvalResult result = Slot::Get().Evaluate("add", "includes_a_file_of_the_host", false);
  EXPECT_EQ(result.diagnostics.find("root:"), std::string::npos) << result.diagnostics;
  const std::string command =
      "g++ -fsyntax-only -x c++ " + std::string(TOUCHSTONE_HOSTILE_SOURCES) + "/includes_a_file_of_the_host.cc 2>&1";
  FILE* control = ::popen(command.c_str(), "r");
  ASSERT_NE(control, nullptr);
  std::string quoted;
  char part[4096];
  for (size_t got = 0; (got = std::fread(part, 1, sizeof(part), control)) > 0;) quoted.append(part, got);
  ::pclose(control);
  EXPECT_NE(quoted.find("root"), std::string::npos) << quoted;
}

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

#include "reward/public_view.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/reward/full_result.h"

namespace touchstone {
namespace {

using nlohmann::json;

enum class Shown { kKept, kRounded, kRemoved };

// What becomes of each field for a candidate that saw no secret input. A new field has to be decided here.
const std::map<std::string, Shown>& Decisions() {
  constexpr Shown kept = Shown::kKept, rounded = Shown::kRounded, removed = Shown::kRemoved;
  static const std::map<std::string, Shown> decisions = {
      {"schema", kept},
      {"id", kept},
      {"status", kept},
      {"fault", kept},
      {"reason", kept},
      {"phase", kept},
      {"task", kept},
      {"task_hash", kept},
      {"dims", kept},
      {"interface_name", kept},
      {"candidate_hash", kept},
      {"artifact_hash", kept},
      {"baseline", kept},
      {"profile", kept},
      {"speedup.speedup", kept},
      {"speedup.lower", kept},
      {"speedup.upper", kept},
      {"speedup.half_width", kept},
      {"speedup.standard_error", kept},
      {"speedup.within_start_sd", kept},
      {"speedup.between_start_sd", kept},
      {"speedup.autocorrelation", kept},
      {"speedup.interval_stated", kept},
      {"speedup.reason", kept},
      {"solo_upper_bound", removed},  // what batching over calls would have to stay below
      {"rewarded_speedup", kept},
      {"rewarded_lower_bound", kept},
      {"baseline_us", kept},
      {"baseline_alone_us", removed},  // what slowing the baseline would have to stay below
      {"baseline_after_us", removed},
      {"candidate_us", kept},
      {"floor_us", rounded},  // what a forged time would have to stay above
      {"resolution_limited", kept},
      {"launch_bound", kept},
      {"cache_state", kept},
      {"trials[].kind", kept},
      {"trials[].trial", kept},
      {"trials[].output", kept},
      {"trials[].candidate.count", kept},
      {"trials[].candidate.mismatches", rounded},
      {"trials[].candidate.nonfinite_mismatches", rounded},
      {"trials[].candidate.first_mismatch", removed},  // one element's fate: a bit of its expected value
      {"trials[].candidate.max_abs", rounded},
      {"trials[].candidate.max_rel", rounded},
      {"trials[].candidate.rms_error", rounded},
      {"trials[].candidate.rms_expected", rounded},
      {"trials[].candidate.rms_exceeded", kept},
      {"trials[].reference.count", kept},
      {"trials[].reference.mismatches", rounded},
      {"trials[].reference.nonfinite_mismatches", rounded},
      {"trials[].reference.first_mismatch", removed},
      {"trials[].reference.max_abs", rounded},
      {"trials[].reference.max_rel", rounded},
      {"trials[].reference.rms_error", rounded},
      {"trials[].reference.rms_expected", rounded},
      {"trials[].reference.rms_exceeded", kept},
      {"rounds", removed},  // how many, how long, in which order
      {"evidence[].id", kept},
      {"evidence[].severity", kept},
      {"evidence[].explanation", kept},
      {"evidence[].numbers.*", rounded},
      {"budget_ms", removed},  // hidden shapes show in it
      {"calibration", removed},
      {"environment.cpu", kept},
      {"environment.size", kept},
      {"environment.toolchain", kept},
      {"environment.host", removed},
      {"level", kept},
      {"layers", removed},  // what is not there to stop an attack
      {"key_hex", removed},
      {"diagnostics", kept},
      {"record_time", kept},
  };
  return decisions;
}

// The concrete places of all values, and the name in the table of each. What the table removes whole is one value.
void Leaves(const json& value, const json::json_pointer& at, const std::string& name,
            std::map<std::string, std::string>& leaves) {
  const json& here = value.at(at);
  const bool whole = Decisions().count(name) > 0;
  if (whole || (!here.is_array() && !here.is_object())) {
    leaves[at.to_string()] = name;
  } else if (here.is_array()) {
    for (size_t i = 0; i < here.size(); ++i) Leaves(value, at / i, name + "[]", leaves);
  } else {
    for (const auto& [key, unused] : here.items()) {
      const std::string shown = name == "evidence[].numbers" ? "*" : key;
      Leaves(value, at / key, name.empty() ? shown : name + "." + shown, leaves);
    }
  }
}

bool IsRounded(double full, double view) {
  int exponent = 0;
  return std::fabs(std::frexp(view, &exponent)) == 0.5 && std::fabs(std::log2(view / full)) <= 0.5;
}

EvalResult FullWithoutSecrets() {
  EvalResult full = FullResult();
  std::erase_if(full.trials, [](const TrialRecord& trial) { return trial.kind != "declared"; });
  full.environment = {{"cpu", "x"}, {"size", "y"}, {"toolchain", "z"}, {"host", "h"}};
  return full;
}

TEST(PublicView, EveryFieldIsDecided) {
  const json full = ToJson(FullWithoutSecrets());
  const json view = ToJson(PublicView(FullWithoutSecrets()));
  const json empty = ToJson(EvalResult{});
  std::map<std::string, std::string> leaves;
  Leaves(full, json::json_pointer(), "", leaves);
  std::set<std::string> seen;
  for (const auto& [place, name] : leaves) {
    const json::json_pointer at(place);
    const auto decision = Decisions().find(name);
    ASSERT_NE(decision, Decisions().end()) << "decide what a policy sees of " << name;
    seen.insert(name);
    const json& was = full.at(at);
    ASSERT_TRUE(view.contains(at) || decision->second == Shown::kRemoved) << place;
    switch (decision->second) {
      case Shown::kKept:
        EXPECT_EQ(view.at(at), was) << place;
        break;
      case Shown::kRounded:
        EXPECT_TRUE(IsRounded(was, view.at(at))) << place << " is " << view.at(at);
        break;
      case Shown::kRemoved:
        EXPECT_NE(view.contains(at) ? view.at(at) : json(), was) << place;
        if (view.contains(at)) {
          EXPECT_EQ(view.at(at), empty.contains(at) ? empty.at(at) : json(0)) << place;
        }
        break;
    }
  }
  for (const auto& [name, fate] : Decisions()) EXPECT_EQ(seen.count(name), 1u) << name << " is not in the record";
}

TEST(PublicView, IsAResultAndItsOwnView) {
  const json view = ToJson(PublicView(FullResult()));
  const auto read = EvalResultFromJson(json::parse(view.dump()));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(ToJson(PublicView(*read)), view);
}

CompareReport Failed(uint64_t mismatches) {
  CompareReport report;
  report.count = 1000;
  report.mismatches = mismatches;
  report.max_abs = 3;
  return report;
}

TEST(PublicView, TrialsOnSecretInputsAreAClass) {
  EvalResult full = FullWithoutSecrets();
  full.trials = {{"declared", 0, "y", {}, {}},
                 {"hidden_shape", 0, "y", {}, Failed(5)},
                 {"hidden_shape", 1, "z", Failed(77), {}},
                 {"hidden_distribution", 0, "y", {}, {}},
                 {"window", 3, "y", {}, {}},
                 {"solo", 4, "y", Failed(9), {}}};
  const EvalResult view = PublicView(full);
  json rows = json::array();
  for (const TrialRecord& trial : view.trials) {
    rows.push_back({trial.kind, trial.trial, trial.output, trial.candidate.passed()});
  }
  EXPECT_EQ(rows, json::parse(R"([["declared", 0, "y", true], ["hidden", 0, "", false],
                                  ["window", 0, "", true], ["solo", 0, "", false]])"));
  json shown = ToJson(view);
  // Nothing but the class: a failed row differs from an empty one in `mismatches` alone.
  shown["trials"][1]["candidate"]["mismatches"] = 0;
  EvalResult empty;
  empty.trials = {TrialRecord{"hidden", 0, "", {}, {}}};
  EXPECT_EQ(shown["trials"][1], ToJson(empty)["trials"][0]);
}

// A candidate chooses how many elements it changes: after a hidden trial that number could be a dim of it.
TEST(PublicView, NumbersOfFindingsGoOnceSecretsWereSeen) {
  EvalResult full = FullWithoutSecrets();
  full.evidence = {{"input_mutated", Evidence::Severity::kCondemns, "it wrote", {{"elements", 1000}}}};
  EXPECT_EQ(PublicView(full).evidence[0].numbers.at("elements"), 1024);
  full.trials.push_back({"hidden_shape", 0, "y", {}, {}});
  EXPECT_TRUE(PublicView(full).evidence[0].numbers.empty());
  EXPECT_EQ(PublicView(full).evidence[0].id, "input_mutated");
}

TEST(PublicView, FailuresOfOursAreNotExplained) {
  EvalResult full = FullWithoutSecrets();
  full.status = EvalStatus::kEnvironmentError;
  full.reason = "hidden: x has dims 3 and 5";
  EXPECT_EQ(PublicView(full).reason.find("3"), std::string::npos);
}

TEST(PublicView, RoundsToPowersOfTwo) {
  EXPECT_EQ(RoundToPowerOfTwo(0), 0);
  EXPECT_EQ(RoundToPowerOfTwo(1), 1);
  EXPECT_EQ(RoundToPowerOfTwo(3), 4);
  EXPECT_EQ(RoundToPowerOfTwo(-1000), -1024);
  EXPECT_EQ(RoundToPowerOfTwo(0.3), 0.25);
  EXPECT_EQ(RoundToPowerOfTwo(std::numeric_limits<double>::max()), 0x1p1023);
  EXPECT_EQ(RoundToPowerOfTwo(std::numeric_limits<double>::denorm_min()), 0x1p-1074);
  EXPECT_TRUE(std::isinf(RoundToPowerOfTwo(std::numeric_limits<double>::infinity())));
  EXPECT_TRUE(std::isnan(RoundToPowerOfTwo(std::nan(""))));
}

}  // namespace
}  // namespace touchstone

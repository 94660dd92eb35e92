// SessionSpec and methods: what is kept, and what is configured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <string>
#include <utility>

#include "env/episode/method.h"
#include "env/episode/session_spec.h"

namespace touchstone {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Every field unlike its default.
SessionSpec FullSpec() {
  SessionSpec spec;
  spec.task = "softmax";
  spec.task_hash = "abc";
  spec.size = "cpu";
  spec.interface_name = "cpp";
  spec.method = "kevin";
  spec.profile = "quick";
  spec.reward = "kevin";
  spec.feedback = "class";
  spec.seed = std::numeric_limits<uint64_t>::max();
  spec.max_turns = 4;
  spec.target_speedup = 1.1;
  spec.budget = std::chrono::milliseconds(1234);
  spec.exemplars = {{"r1", 1.0 / 3, 0.1}, {"r2", 2, 1e-300}};
  spec.exemplars_as_of = 7;
  spec.group_id = "g \"ü\"";
  spec.policy_version = "v1";
  spec.baseline_source = "int a;\n";
  spec.device = {{"cpu", "x"}, {"cores", "2"}};
  return spec;
}

TEST(SessionSpec, DecodingUndoesEncoding) {
  SessionSpec sparse;
  sparse.feedback = "none";
  for (const SessionSpec& spec : {FullSpec(), sparse}) {
    const auto back = SessionSpecFromJson(ToJsonText(spec));
    ASSERT_TRUE(back.ok()) << back.error().ToString();
    EXPECT_TRUE(*back == spec);
    EXPECT_EQ(ToJsonText(*back), ToJsonText(spec));
  }
}

TEST(SessionSpec, EveryFieldIsWritten) {
  const json full = json::parse(ToJsonText(FullSpec())), empty = json::parse(ToJsonText(SessionSpec{}));
  EXPECT_EQ(full.size(), 18U);
  for (const auto& [name, value] : full.items()) EXPECT_NE(value, empty[name]) << name;
}

TEST(SessionSpec, SaysWhichFieldIsWrong) {
  const json good = json::parse(ToJsonText(FullSpec()));
  for (const auto& [name, value] : good.items()) {
    json changed = good;
    changed.erase(name);
    EXPECT_THAT(SessionSpecFromJson(changed.dump()).error().message(), HasSubstr(name + ": is missing"));
    changed[name] = json::array({json::array()});
    const auto ill_typed = SessionSpecFromJson(changed.dump());
    ASSERT_FALSE(ill_typed.ok()) << name;
    EXPECT_THAT(ill_typed.error().message(), HasSubstr(name));
  }
  const std::pair<const char*, json> impossible[] = {
      {"max_turns", 0},         {"max_turns", 1001}, {"max_turns", -1}, {"target_speedup", 0},
      {"feedback", "loud"},     {"budget_ms", -1},   {"surplus", 1},    {"budget_ms", uint64_t{1} << 60},
      {"max_turns", 1ULL << 40}};
  for (const auto& [name, value] : impossible) {
    json changed = good;
    changed[name] = value;
    const auto spec = SessionSpecFromJson(changed.dump());
    ASSERT_FALSE(spec.ok()) << name << " " << value;
    EXPECT_THAT(spec.error().message(), HasSubstr(name));
  }
  json changed = good;
  changed["exemplars"][1]["score"] = "high";
  EXPECT_THAT(SessionSpecFromJson(changed.dump()).error().message(), HasSubstr("exemplars[1].score"));
  for (const char* text : {"", "[]", "{", "nul"}) EXPECT_FALSE(SessionSpecFromJson(text).ok());
}

TEST(Method, ReadsEveryKey) {
  const auto method = ParseMethod(R"(
profile: standard
reward: kevin
size: gpu
max_turns: 8
target_speedup: 2.5
budget_ms: 60000
exemplars: 2
selector: top_k
temperature: 0.5
bucket_width: 0.25
feedback: class
)",
                                  "mine", "mine.yaml");
  ASSERT_TRUE(method.ok()) << method.error().ToString();
  EXPECT_EQ(method->name, "mine");
  EXPECT_EQ(method->profile, "standard");
  EXPECT_EQ(method->reward, "kevin");
  EXPECT_EQ(method->size, "gpu");
  EXPECT_EQ(method->max_turns, 8);
  EXPECT_EQ(method->target_speedup, 2.5);
  EXPECT_EQ(method->budget, std::chrono::milliseconds(60000));
  EXPECT_EQ(method->exemplars, 2);
  EXPECT_EQ(method->selector, "top_k");
  EXPECT_EQ(method->temperature, 0.5);
  EXPECT_EQ(method->bucket_width, 0.25);
  EXPECT_EQ(method->feedback, "class");
}

TEST(Method, SaysFileLineAndKey) {
  const std::pair<const char*, const char*> rows[] = {
      {"profile: quick\nmax_turn: 3", "mine.yaml:2: max_turn"},
      {"max_turns: 0", "mine.yaml:1: max_turns"},
      {"max_turns: many", "mine.yaml:1: max_turns"},
      {"\nreward: kelvin", "mine.yaml:2: reward: no reward 'kelvin'; there are: autotriton"},
      {"feedback: loud", "mine.yaml:1: feedback: must be full, class or none"},
      {"exemplars: 17", "mine.yaml:1: exemplars"},
      {"target_speedup: -1", "mine.yaml:1: target_speedup"},
      {"budget_ms: 0", "mine.yaml:1: budget_ms"},
      {"bucket_width: 0", "mine.yaml:1: bucket_width"},
      {"reward: kevin\nreward: binary", "mine.yaml:2"},
      {"[1, 2]", "mine.yaml:1"},
  };
  for (const auto& [yaml, error] : rows) {
    const auto method = ParseMethod(yaml, "mine", "mine.yaml");
    ASSERT_FALSE(method.ok()) << yaml;
    EXPECT_EQ(method.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(method.error().message(), HasSubstr(error));
  }
}

TEST(Method, ThoseThatAreShippedLoad) {
  const auto methods = LoadMethods(TOUCHSTONE_METHOD_FOLDER);
  ASSERT_TRUE(methods.ok()) << methods.error().ToString();
  for (const char* name :
       {"default", "kevin", "cuda_l1", "kernrl", "drkernel", "autotriton", "cuda_agent", "self_sup"}) {
    EXPECT_EQ(methods->count(name), 1U) << name;
  }
  EXPECT_EQ(methods->size(), 8U);
  EXPECT_FALSE(LoadMethods("/nonexistent").ok());
}

}  // namespace
}  // namespace touchstone

#include "env/serve/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace touchstone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const std::string& yaml, const std::vector<std::string>& settings = {}) {
  const auto config = ParseServeConfig(yaml, "node.yaml", settings);
  return config.ok() ? "" : config.error().message();
}

TEST(ServeConfigTest, FileAndSettingsFillTheStructs) {
  const auto config = ParseServeConfig(
      "server:\n  endpoint: tcp://127.0.0.1:1\n  retry_after_ms: 70\nslots:\n  count: 2\n  cpus: [0, 3]\n", "f",
      {"slots.count=3", "store.folder=a=b", "environment.idle_limit_s=9"});
  ASSERT_TRUE(config.ok()) << config.error().ToString();
  EXPECT_EQ(config->server.endpoint, "tcp://127.0.0.1:1");
  EXPECT_EQ(config->server.retry_after, std::chrono::milliseconds(70));
  EXPECT_EQ(config->slots.count, 3);
  EXPECT_THAT(config->slots.cpus, ElementsAre(0, 3));
  EXPECT_EQ(config->store.folder, "a=b");
  EXPECT_EQ(config->environment.idle_limit, std::chrono::seconds(9));
  EXPECT_THAT(ParseServeConfig("", "f", {"slots.cpus=1,2"})->slots.cpus, ElementsAre(1, 2));
}

TEST(ServeConfigTest, WhatIsWrongIsNamedWithFileLineAndKey) {
  EXPECT_EQ(ErrorOf("server:\n  endpont: x\n"), "node.yaml:2: server.endpont: there is no such option");
  EXPECT_EQ(ErrorOf("slots:\n  count: many\n"), "node.yaml:2: slots.count: is not an integer");
  EXPECT_EQ(ErrorOf("slots:\n\n  count: -1\n"), "node.yaml:3: slots.count: must be between 0 and 4096");
  EXPECT_EQ(ErrorOf("slots:\n  level: most\n"), "node.yaml:2: slots.level: must be one of full, reduced, none");
  EXPECT_EQ(ErrorOf("slots:\n  cpus: [a]\n"), "node.yaml:2: slots.cpus: is not a list of cores");
  EXPECT_EQ(ErrorOf("server:\n  endpoint: [a]\n"), "node.yaml:2: server.endpoint: is a list");
  EXPECT_EQ(ErrorOf("server:\n  endpoint: {a: b}\n"), "node.yaml:2: server.endpoint: is neither a value nor a list");
  EXPECT_EQ(ErrorOf("server: 3\n"), "node.yaml:1: server: is not a map of options");
  EXPECT_THAT(ErrorOf("server:\n  a: [\n"), HasSubstr("node.yaml:"));
  EXPECT_EQ(ErrorOf("", {"slots.count"}), "--set slots.count: is not key=value");
  EXPECT_EQ(ErrorOf("", {"slots.cnt=1"}), "--set: slots.cnt: there is no such option");
  EXPECT_EQ(LoadServeConfig("/nowhere.yaml", {}).error().code(), ErrorCode::kNotFound);
}

TEST(ServeConfigTest, EveryShippedConfigurationLoads) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(TOUCHSTONE_SERVER_CONFIGS)) {
    const auto config = LoadServeConfig(file.path().string(), {});
    EXPECT_TRUE(config.ok()) << config.error().ToString();
    ++count;
  }
  EXPECT_GT(count, 0);
}

// docs/operations.md has a row for every option, with its default.
TEST(ServeConfigTest, EveryOptionIsDocumented) {
  std::ifstream file(std::string(TOUCHSTONE_DOCS) + "/operations.md");
  std::ostringstream text;
  text << file.rdbuf();
  for (const auto& [key, value] : ListOptions(ServeConfig())) {
    EXPECT_THAT(text.str(), HasSubstr("| `" + key + "` | " + (value.empty() ? "" : "`" + value + "` ") + "|"));
  }
}

TEST(PlanSlotsTest, TimedSlotsAreDisjoint) {
  SlotPlan plan;
  const auto slots = PlanSlots(plan, {0, 1, 2, 3, 4});
  ASSERT_TRUE(slots.ok());
  ASSERT_EQ(slots->size(), 2U);
  EXPECT_THAT((*slots)[0].cpus, ElementsAre(0, 1));
  EXPECT_THAT((*slots)[1].cpus, ElementsAre(2, 3));
  plan.untimed = 3;
  plan.untimed_cores = 1;
  const auto mixed = PlanSlots(plan, {0, 1, 2, 3, 4});
  ASSERT_EQ(mixed->size(), 5U);
  EXPECT_THAT((*mixed)[2].cpus, ElementsAre(4));
  EXPECT_THAT((*mixed)[4].cpus, ElementsAre(4));
  EXPECT_TRUE((*mixed)[4].untimed);
}

TEST(PlanSlotsTest, ASmallHostHasOneSlot) {
  EXPECT_THAT((*PlanSlots({}, {7}))[0].cpus, ElementsAre(7));
  EXPECT_EQ(PlanSlots({}, {0, 1})->size(), 1U);
}

TEST(PlanSlotsTest, MoreThanThereIsIsRefused) {
  SlotPlan plan;
  plan.count = 3;
  EXPECT_THAT(PlanSlots(plan, {0, 1, 2, 3}).error().message(), HasSubstr("more than the 4"));
  plan = {};
  plan.cpus = {9};
  EXPECT_THAT(PlanSlots(plan, {0, 1}).error().message(), HasSubstr("core 9"));
  plan.cpus = {1, 1};
  EXPECT_THAT(PlanSlots(plan, {0, 1}).error().message(), HasSubstr("twice"));
}

}  // namespace
}  // namespace touchstone

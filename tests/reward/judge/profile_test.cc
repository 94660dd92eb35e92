#include "reward/judge/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace touchstone {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::string ErrorOf(const std::string& yaml) {
  const Result<MeasurementProfile> profile = ParseProfile(yaml, "p", "p.yaml");
  return profile.ok() ? "no error" : profile.error().message();
}

TEST(Profile, EveryShippedOneLoads) {
  for (const std::string name : {"check", "quick", "standard", "strict", "cuda_l1"}) {
    const Result<MeasurementProfile> profile = LoadProfile(name);
    ASSERT_TRUE(profile.ok()) << profile.error().ToString();
    EXPECT_EQ(profile->name, name);
  }
  EXPECT_EQ(LoadProfile("check")->max_rounds, 0);
  EXPECT_EQ(LoadProfile("quick")->starts, 1);
  EXPECT_GE(LoadProfile("standard")->starts, 3);
  EXPECT_EQ(LoadProfile("strict")->starts, 5);
  EXPECT_TRUE(LoadProfile("cuda_l1")->random_order);
  EXPECT_FALSE(LoadProfile("cuda_l1")->measure_unstable_again);
  EXPECT_TRUE(LoadProfile("quick")->measure_unstable_again);
}

TEST(Profile, KeysReachTheirFields) {
  const Result<MeasurementProfile> p = ParseProfile(
      "trials: 7\nhidden_shape_trials: 0\nhidden_distributions: false\nmin_rounds: 9\nmax_rounds: 10\n"
      "solo_rounds: 31\nstarts: 2\nwindow_us: 1234\ntarget_half_width: 0.5\nconfidence: 0.9\ncache: hot\n"
      "random_order: false\nmeasure_unstable_again: false\nruntime_cap: 12.5\n"
      "load_timeout_ms: 1\ncall_timeout_ms: 2\ntotal_budget_ms: 3\nblock_mib: 4\nmemory_mib: 64\n",
      "mine", "f");
  ASSERT_TRUE(p.ok()) << p.error().ToString();
  EXPECT_EQ(p->name, "mine");
  EXPECT_EQ(p->trials, 7);
  EXPECT_EQ(p->hidden_shape_trials, 0);
  EXPECT_FALSE(p->hidden_distributions);
  EXPECT_EQ(p->min_rounds, 9);
  EXPECT_EQ(p->max_rounds, 10);
  EXPECT_EQ(p->solo_rounds, 31);
  EXPECT_EQ(p->starts, 2);
  EXPECT_EQ(p->window, 1234us);
  EXPECT_EQ(p->target_half_width, 0.5);
  EXPECT_EQ(p->confidence, 0.9);
  EXPECT_EQ(p->cache, "hot");
  EXPECT_FALSE(p->random_order);
  EXPECT_FALSE(p->measure_unstable_again);
  EXPECT_EQ(p->runtime_cap, 12.5);
  EXPECT_EQ(p->load_timeout, 1ms);
  EXPECT_EQ(p->call_timeout, 2ms);
  EXPECT_EQ(p->total_budget, 3ms);
  EXPECT_EQ(p->block_bytes, 4u << 20);
  EXPECT_EQ(p->memory_bytes, 64u << 20);
  const std::string rendered = RenderProfile(*p);
  const Result<MeasurementProfile> back = ParseProfile(rendered, "mine", "f");
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(RenderProfile(*back), rendered);
  EXPECT_THAT(rendered, HasSubstr("window_us: 1234\n"));
}

TEST(Profile, WhatIsLeftOutKeepsItsDefault) {
  const Result<MeasurementProfile> p = ParseProfile("trials: 4\n", "p", "f");
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p->trials, 4);
  EXPECT_EQ(p->window, MeasurementProfile{}.window);
}

TEST(Profile, ErrorsNameFileLineAndKey) {
  EXPECT_EQ(ErrorOf("trials: 3\n\nround: 4\n"), "p.yaml:3: round: is not a key of a measurement profile");
  EXPECT_EQ(ErrorOf("trials: 3\nstarts: 0\n"), "p.yaml:2: starts: must be between 1 and 64");
  EXPECT_EQ(ErrorOf("starts: 2.5\n"), "p.yaml:1: starts: must be an integer");
  EXPECT_EQ(ErrorOf("starts: 99999999999\n"), "p.yaml:1: starts: must be an integer");
  EXPECT_EQ(ErrorOf("starts: [1]\n"), "p.yaml:1: starts: must be one value");
  EXPECT_EQ(ErrorOf("block_mib: -1\n"), "p.yaml:1: block_mib: must be an integer");
  EXPECT_EQ(ErrorOf("confidence: nan\n"), "p.yaml:1: confidence: must be between 0.5 and 0.999");
  EXPECT_EQ(ErrorOf("confidence: high\n"), "p.yaml:1: confidence: must be a number");
  EXPECT_EQ(ErrorOf("cache: warm\n"), "p.yaml:1: cache: must be cold or hot");
  EXPECT_EQ(ErrorOf("random_order: yes\n"), "p.yaml:1: random_order: must be true or false");
  EXPECT_EQ(ErrorOf("trials: 3\ntrials: 4\n"), "p.yaml:2: trials: is there twice");
  EXPECT_EQ(ErrorOf("min_rounds: 9\nmax_rounds: 8\n"), "p.yaml:2: max_rounds: must not be below min_rounds");
  EXPECT_EQ(ErrorOf("min_rounds: 0\n"),
            "p.yaml:1: min_rounds: 0 rounds (correctness only) must be the minimum and the maximum");
  EXPECT_EQ(ErrorOf("solo_rounds: 29\n"), "p.yaml:1: solo_rounds: must be at least 30 where rounds are timed");
  EXPECT_EQ(ErrorOf("- 1\n"), "p.yaml:1: must be a map from keys to values");
  EXPECT_EQ(ErrorOf(""), "p.yaml:1: must be a map from keys to values");
  EXPECT_THAT(ErrorOf("a: [1\n"), HasSubstr("p.yaml:"));
}

TEST(Profile, AnUnknownNameListsThoseThereAre) {
  const Result<MeasurementProfile> profile = LoadProfile("fast");
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(profile.error().message(), HasSubstr("check, cuda_l1, quick, standard, strict"));
  EXPECT_EQ(LoadProfile("nowhere/fast.yaml").error().message(), "nowhere/fast.yaml: cannot be read");
}

TEST(Profile, TheEnvironmentVariableNamesAnotherFolder) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "touchstone_profile_test";
  std::filesystem::create_directories(folder / "measurement");
  std::ofstream(folder / "measurement" / "own.yaml") << "trials: 9\n";
  ::setenv("TOUCHSTONE_CONFIGS", folder.c_str(), 1);
  const Result<MeasurementProfile> by_name = LoadProfile("own");
  ::unsetenv("TOUCHSTONE_CONFIGS");
  const Result<MeasurementProfile> by_path = LoadProfile((folder / "measurement" / "own.yaml").string());
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(by_name.ok()) << by_name.error().ToString();
  EXPECT_EQ(by_name->trials, 9);
  EXPECT_EQ(by_name->name, "own");
  ASSERT_TRUE(by_path.ok());
  EXPECT_EQ(by_path->trials, 9);
}

}  // namespace
}  // namespace touchstone

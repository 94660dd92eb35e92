#include "reward/verdict/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace touchstone {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CalibrationTest : public ::testing::Test {
 protected:
  CalibrationTest() {
    std::string name = (fs::path(::testing::TempDir()) / "touchstone_calibration_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~CalibrationTest() override { fs::remove_all(folder_); }

  CalibrationStore Store() const { return CalibrationStore((folder_ / "state" / "calibration.json").string()); }
  void Write(const std::string& text) const {
    fs::create_directories(folder_ / "state");
    std::ofstream(Store().path(), std::ios::binary) << text;
  }
  std::string Text() const {
    std::ifstream file(Store().path(), std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }

  fs::path folder_;
};

Calibration Example(const std::string& interface_name = "cpp", double sd = 0.004) {
  return {{"0123", "Some \"CPU\", 4 cores", interface_name}, sd, 30, "2026-12-01T10:00:00Z"};
}

TEST_F(CalibrationTest, NoFileIsNoCalibration) {
  const auto found = Store().Find(Example().key);
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_FALSE(found->has_value());
  EXPECT_FALSE(fs::exists(Store().path()));
}

TEST_F(CalibrationTest, IsFoundByItsWholeKey) {
  ASSERT_TRUE(Store().Put(Example()).ok());
  const auto found = Store().Find(Example().key);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->between_start_sd, 0.004);
  EXPECT_EQ((*found)->evaluations, 30);
  EXPECT_EQ((*found)->date, "2026-12-01T10:00:00Z");
  for (std::string CalibrationKey::*part :
       {&CalibrationKey::host, &CalibrationKey::device, &CalibrationKey::interface_name}) {
    CalibrationKey other = Example().key;
    other.*part += "x";
    EXPECT_FALSE(Store().Find(other)->has_value());
  }
}

TEST_F(CalibrationTest, ANewerOneReplacesTheOldAndKeepsTheOthers) {
  ASSERT_TRUE(Store().Put(Example("cpp", 0.004)).ok());
  ASSERT_TRUE(Store().Put(Example("cuda", 0.002)).ok());
  ASSERT_TRUE(Store().Put(Example("cpp", 0.008)).ok());
  EXPECT_EQ(Store().Load()->size(), 2u);
  EXPECT_EQ((*Store().Find(Example("cpp").key))->between_start_sd, 0.008);
  EXPECT_EQ((*Store().Find(Example("cuda").key))->between_start_sd, 0.002);
}

TEST_F(CalibrationTest, LeavesNoTemporaryFile) {
  ASSERT_TRUE(Store().Put(Example()).ok());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_ / "state")) names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("calibration.json", "calibration.json.lock"));
}

TEST_F(CalibrationTest, WritersAtOnceLoseNothing) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([this, i] { EXPECT_TRUE(Store().Put(Example("interface " + std::to_string(i))).ok()); });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Store().Load()->size(), 8u);
}

TEST_F(CalibrationTest, ACorruptFileIsAClearErrorAndIsNotReplaced) {
  ASSERT_TRUE(Store().Put(Example()).ok());
  const std::string good = Text();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "is not JSON"},
      {good.substr(0, good.size() / 2), "is not JSON"},
      {"[]", "is not JSON"},
      {with("\"schema\": 1", "\"schema\": 2"), "schema: is not 1"},
      {with("0.004", "-0.004"), "calibrations[0]: between_start_sd"},
      {with("0.004", "\"0.004\""), "calibrations[0]: between_start_sd"},
      {with("30", "1"), "calibrations[0]: evaluations"},
      {with("30", "3e9"), "calibrations[0]: evaluations"},
      {with("\"host\"", "\"hots\""), "calibrations[0]: host"},
      {with("\"date\"", "\"x\": 1, \"date\""), "calibrations[0]: not an object of six fields"},
      {R"({"schema": 1, "calibrations": {}})", "calibrations: is no list"},
  };
  for (const auto& [text, message] : cases) {
    Write(text);
    const auto loaded = Store().Load();
    ASSERT_FALSE(loaded.ok()) << text;
    EXPECT_EQ(loaded.error().code(), ErrorCode::kCorrupt);
    EXPECT_THAT(loaded.error().message(), HasSubstr(Store().path() + ": " + message));
    EXPECT_FALSE(Store().Find(Example().key).ok());
    EXPECT_FALSE(Store().Put(Example()).ok());
    EXPECT_EQ(Text(), text);
  }
}

TEST_F(CalibrationTest, ValuesThatCannotBeAreRefused) {
  for (const double sd : {-1.0, 1.0, std::nan(""), HUGE_VAL}) EXPECT_FALSE(Store().Put(Example("cpp", sd)).ok()) << sd;
  Calibration one = Example();
  one.evaluations = 1;
  EXPECT_FALSE(Store().Put(one).ok());
  EXPECT_FALSE(fs::exists(Store().path()));
}

TEST_F(CalibrationTest, AFolderThatCannotBeWrittenIsAnError) {
  std::ofstream(folder_ / "file") << "x";
  const CalibrationStore store((folder_ / "file" / "calibration.json").string());
  EXPECT_EQ(store.Put(Example()).error().code(), ErrorCode::kUnavailable);
}

TEST(CalibrationPlace, FollowsXdg) {
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  ::setenv("HOME", "/home/x", 1);
  ::setenv("XDG_STATE_HOME", "/var/state", 1);
  EXPECT_EQ(DefaultCalibrationFile(), "/var/state/touchstone/calibration.json");
  ::setenv("XDG_STATE_HOME", "relative", 1);
  EXPECT_EQ(DefaultCalibrationFile(), "/home/x/.local/state/touchstone/calibration.json");
  ::unsetenv("XDG_STATE_HOME");
  EXPECT_EQ(CalibrationStore().path(), "/home/x/.local/state/touchstone/calibration.json");
  ::setenv("HOME", home.c_str(), 1);
}

TEST(CalibrationHost, IsNamedTheSameEachTime) {
  EXPECT_EQ(HostId(), HostId());
  EXPECT_EQ(HostId().size(), 16u);
  EXPECT_THAT(CpuDeviceName(3), ::testing::EndsWith(", 3 cores"));
  EXPECT_THAT(CpuDeviceName(1), ::testing::EndsWith(", 1 core"));
  EXPECT_NE(CpuDeviceName(0), CpuDeviceName(100'000));
}

}  // namespace
}  // namespace touchstone

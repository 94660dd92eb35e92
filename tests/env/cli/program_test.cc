// The program as its users start it: arguments, exit codes, what goes to which stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace touchstone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kRight[] = R"(extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}
)";
constexpr char kWrong[] = R"(extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] - y[i];
}
)";

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "touchstone-program-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  static std::string Read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  // `arguments` as a shell would get them. The cache and the calibration are the test's own.
  Ran Run(const std::string& arguments) {
    const std::string command = "TOUCHSTONE_CACHE=" + folder_ + "/cache XDG_STATE_HOME=" + folder_ + "/state " +
                                TOUCHSTONE_PROGRAM + " " + arguments + " >" + folder_ + "/out 2>" + folder_ +
                                "/err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Read(folder_ + "/out"), Read(folder_ + "/err")};
  }

  std::string folder_;
};

TEST_F(ProgramTest, EveryCommandHasHelpWithExamples) {
  for (const char* command : {"eval", "tasks", "doctor", "calibrate", "reproduce", "replay", "bench"}) {
    const Ran ran = Run(std::string(command) + " --help");
    EXPECT_EQ(ran.code, 0) << command;
    EXPECT_THAT(ran.out, HasSubstr("Examples:")) << command;
    EXPECT_THAT(ran.out, HasSubstr(std::string("touchstone ") + command)) << command;
  }
  EXPECT_THAT(Run("--help").out, HasSubstr("Exit codes"));
  EXPECT_THAT(Run("--version").out, StartsWith("touchstone "));
}

TEST_F(ProgramTest, BadArgumentsAreUsageErrorsAndCostNoEvaluation) {
  const std::string right = Write("right.cc", kRight);
  const std::vector<std::string> all = {
      "",
      "nonsense",
      "eval",
      "eval add",
      "eval no_such_task " + right,
      "eval add " + folder_ + "/missing.cc",
      "eval add " + right + " --size huge",
      "eval add " + right + " --profile no_such_profile",
      "eval add " + right + " --baseline " + folder_ + "/missing.cc",
      "eval add " + right + " --level most",
      "eval add " + right + " --cpus one",
      "eval add " + right + " --json " + folder_ + "/no/such/folder/x",
      "tasks show no_such_task",
      "reproduce " + folder_ + "/missing.jsonl",
      "reproduce " + right,
      "calibrate --evaluations 0",
  };
  for (const std::string& arguments : all) {
    const Ran ran = Run(arguments);
    EXPECT_EQ(ran.code, 2) << arguments << "\n" << ran.err;
    EXPECT_EQ(ran.out, "") << arguments;
    EXPECT_NE(ran.err, "") << arguments;
  }
}

TEST_F(ProgramTest, AFileThatIsNotUtf8IsRefused) {
  const Ran ran = Run("eval add " + Write("latin1.cc", std::string("// \xe4\n") + kRight));
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("UTF-8"));
}

TEST_F(ProgramTest, TasksAreListedAndShownWithTheSignatureToDefine) {
  const Ran list = Run("tasks list");
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.out, HasSubstr("\nsoftmax "));
  const Ran show = Run("tasks show add");
  EXPECT_EQ(show.code, 0);
  EXPECT_THAT(show.out, HasSubstr("extern \"C\" void run(const float* x, const float* y, float* z, int64_t n);"));
}

TEST_F(ProgramTest, DoctorSaysWhichLevelIsReachedAndTheExitCodeWhetherThatIsEnough) {
  const Ran full = Run("doctor");
  EXPECT_THAT(full.out, HasSubstr("seccomp"));
  EXPECT_THAT(full.out, HasSubstr("Boxes reach level '"));
  EXPECT_EQ(full.code, full.out.find("level 'full'") != std::string::npos ? 0 : 1);
  EXPECT_EQ(Run("doctor --level none").code, 0);
}

TEST_F(ProgramTest, ARightAndAWrongCandidateGiveTheirRowsTheirRecordsAndExitCode1) {
  const std::string right = Write("right.cc", kRight);
  const std::string wrong = Write("wrong.cc", kWrong);
  const std::string json = folder_ + "/results.jsonl";
  const Ran ran = Run("eval add " + right + " " + wrong + " --profile check --json " + json);
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("right.cc"));
  EXPECT_THAT(ran.out, HasSubstr("incorrect"));

  std::istringstream lines(Read(json));
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(lines, line);) records.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0]["status"], "success");
  EXPECT_EQ(records[1]["status"], "incorrect");
  EXPECT_EQ(records[0]["submission"]["source"], kRight);

  EXPECT_EQ(Run("eval add " + right + " --profile check").code, 0);
}

// The same inputs by the stored key: a wrong candidate is wrong in the same elements again.
TEST_F(ProgramTest, ReproduceRunsTheSameEvaluationAgain) {
  const std::string json = folder_ + "/results.jsonl";
  const std::string again = folder_ + "/again.jsonl";
  ASSERT_EQ(Run("eval add " + Write("wrong.cc", kWrong) + " --profile check --json " + json).code, 1);
  const Ran ran = Run("reproduce " + json + " --json " + again);
  EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("incorrect"));
  const auto before = nlohmann::json::parse(Read(json));
  const auto after = nlohmann::json::parse(Read(again));
  EXPECT_EQ(after["key_hex"], before["key_hex"]);
  ASSERT_FALSE(before["trials"].empty());
  EXPECT_EQ(after["trials"], before["trials"]);
  // Control: another evaluation has another key and other inputs.
  ASSERT_EQ(Run("eval add " + folder_ + "/wrong.cc --profile check --json " + again).code, 1);
  EXPECT_NE(nlohmann::json::parse(Read(again))["key_hex"], before["key_hex"]);
  EXPECT_NE(nlohmann::json::parse(Read(again))["trials"], before["trials"]);
}

TEST_F(ProgramTest, ReproduceRefusesARecordOfATaskThatHasChanged) {
  const std::string json = folder_ + "/results.jsonl";
  ASSERT_EQ(Run("eval add " + Write("wrong.cc", kWrong) + " --profile check --json " + json).code, 1);
  auto record = nlohmann::json::parse(Read(json));
  record["task_hash"] = std::string(64, '0');
  const Ran ran = Run("reproduce " + Write("changed.jsonl", record.dump()));
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("has changed"));
}

TEST_F(ProgramTest, JsonOnStandardOutputHasNothingBesideIt) {
  const Ran ran = Run("eval add " + Write("wrong.cc", kWrong) + " --profile check --json -");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(nlohmann::json::parse(ran.out)["status"], "incorrect");
}

TEST_F(ProgramTest, ACompilerErrorIsShownWithItsLine) {
  const Ran ran = Run("eval add " + Write("bad.cc", "int x = ;\n") + " --profile check");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("compile_error"));
  EXPECT_THAT(ran.out, HasSubstr("expected primary-expression"));
}

TEST_F(ProgramTest, CalibrateStoresWhatLaterEvaluationsUse) {
  const Ran ran = Run("calibrate --evaluations 2");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("stored "));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/state/touchstone/calibration.json"));
}

}  // namespace
}  // namespace touchstone::cli

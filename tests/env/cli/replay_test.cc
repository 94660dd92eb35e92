// touchstone replay as its users start it.
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/rollout/store_fixture.h"

namespace touchstone::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

class ReplayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto store = OpenStore(path_);
    for (int i = 0; i < 6; ++i) {
      RolloutRecord record = MakeRollout(i, "add", 1 + 0.5 * i);
      record.group_id = "g";
      if (i == 5) record.result.status = EvalStatus::kIncorrect;
      if (i == 5) record.result.reason = "3 of 8 elements";
      ASSERT_THAT(store->Append(record), Succeeds());
    }
  }

  static std::string Read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  Ran Run(const std::string& arguments) {
    const std::string command = std::string(TOUCHSTONE_PROGRAM) + " replay " + arguments + " >" + folder_.path() +
                                "/out 2>" + folder_.path() + "/err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Read(folder_.path() + "/out"), Read(folder_.path() + "/err")};
  }

  static std::vector<json> Lines(const std::string& text) {
    std::vector<json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
  }

  TempFolder folder_;
  std::string path_ = folder_.path() + "/store";
};

TEST_F(ReplayTest, ListsAsATableAndAsJson) {
  const Ran table = Run("list " + path_ + " --status success --limit 3");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("r2"));
  EXPECT_THAT(table.out, Not(HasSubstr("r3")));
  EXPECT_THAT(table.out, HasSubstr("--after 3"));
  const Ran lines = Run("list " + path_ + " --eligible --after 2 --json -");
  EXPECT_EQ(lines.code, 0) << lines.err;
  ASSERT_THAT(Lines(lines.out), SizeIs(3));
  EXPECT_EQ(Lines(lines.out)[0]["id"], "r2");
  EXPECT_EQ(Lines(lines.out)[0]["score"], 2.0);
  EXPECT_EQ(Run("list " + path_ + " --task mul").code, 1);
  EXPECT_EQ(Run("list " + path_ + " --status glorious").code, 2);
}

TEST_F(ReplayTest, ShowsOneRollout) {
  const Ran shown = Run("show " + path_ + " r5");
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("incorrect"));
  EXPECT_THAT(shown.out, HasSubstr("3 of 8 elements"));
  EXPECT_THAT(shown.out, HasSubstr("/* 5 */"));
  EXPECT_EQ(Run("show " + path_ + " r5 --text source").out, MakeRollout(5).source);
  const Ran record = Run("show " + path_ + " r5 --json -");
  ASSERT_THAT(Lines(record.out), SizeIs(1));
  EXPECT_EQ(Lines(record.out)[0]["result"]["status"], "incorrect");
  EXPECT_EQ(Run("show " + path_ + " nobody").code, 2);
}

TEST_F(ReplayTest, DrawsTheSamePairAgain) {
  const Ran first = Run("pairs " + path_ + " add --seed 7 --json -");
  ASSERT_EQ(first.code, 0) << first.err;
  const json drawn = Lines(first.out).at(0);
  ASSERT_THAT(drawn["items"], SizeIs(2));
  EXPECT_NE(drawn["items"][0]["score"], drawn["items"][1]["score"]);
  ASSERT_THAT(OpenStore(path_)->Append(MakeRollout(9, "add", 50)), Succeeds());
  EXPECT_EQ(Run("pairs " + path_ + " add --seed 7 --as-of 6 --json -").out, first.out);
  EXPECT_THAT(Run("pairs " + path_ + " add --seed 7 --as-of 6").out, HasSubstr("again with --seed 7 --as-of 6"));
  EXPECT_EQ(Run("pairs " + path_ + " mul").code, 1);
  EXPECT_EQ(Run("pairs " + path_ + " add --selector island").code, 2);
}

TEST_F(ReplayTest, ExportsPairsWithThePromptOfTheTask) {
  const std::string file = folder_.path() + "/pairs.jsonl";
  const Ran ran = Run("export " + path_ + " -o " + file + " --pairs 10");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::vector<json> lines = Lines(Read(file));
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(ran.err, HasSubstr(std::to_string(lines.size()) + " pairs written"));
  for (const json& line : lines) {
    EXPECT_GT(line["chosen_score"], line["rejected_score"]);
    EXPECT_THAT(line["prompt"].get<std::string>(), HasSubstr("void run("));
  }
  EXPECT_EQ(Run("export " + path_ + " -o " + folder_.path() + "/none --task mul").code, 1);
}

TEST_F(ReplayTest, VerifiesAndSaysWhatIsDamaged) {
  const Ran good = Run("verify " + path_);
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("6 rollouts"));
  std::string bytes = Read(path_ + "/rollouts.sqlite");
  const size_t at = bytes.find("/* 3 */");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 3] = '4';
  std::ofstream(path_ + "/rollouts.sqlite", std::ios::binary) << bytes;
  const Ran damaged = Run("verify " + path_);
  EXPECT_EQ(damaged.code, 1);
  EXPECT_THAT(damaged.out, HasSubstr("damaged: rollout 4 ('r3'): source"));
  EXPECT_EQ(Run("verify " + folder_.path() + "/none").code, 2);
}

}  // namespace
}  // namespace touchstone::cli

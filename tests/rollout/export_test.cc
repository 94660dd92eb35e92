#include "rollout/export.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

#include "tests/rollout/store_fixture.h"

namespace touchstone {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ExportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 12; ++i) {
      RolloutRecord record = MakeRollout(i, i < 8 ? "add" : "mul", 1 + 0.2 * (i % 8));
      record.prompt_hash = "h" + std::to_string(i);
      if (i % 2 == 0) record.response = "answer " + std::to_string(i) + " \xff";
      ASSERT_THAT(store_->Append(record), Succeeds());
    }
    selector_ = RolloutSelector::Create(*store_).value();
  }

  Result<PairExportReport> Export(const PairExportOptions& options, const PromptOf& prompt_of = nullptr) {
    lines_.clear();
    return ExportPairs(*store_, *selector_, options, prompt_of, [this](std::string_view line) -> Status {
      lines_.push_back(json::parse(line));
      return {};
    });
  }

  TempFolder folder_;
  std::unique_ptr<RolloutStore> store_ = OpenStore(folder_.path());
  std::unique_ptr<RolloutSelector> selector_;
  std::vector<json> lines_;
};

TEST_F(ExportTest, EachLineHoldsABetterAndAWorseRolloutOfOneTask) {
  PairExportOptions options;
  options.pairs = 40;
  const auto report = Export(options, [](const RolloutRecord& chosen, const RolloutRecord& rejected) {
    return Result<std::string>(chosen.id + " or " + rejected.id);
  });
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->written, lines_.size());
  EXPECT_EQ(report->written + report->repeated + report->without_contrast, 80u);
  EXPECT_EQ(report->as_of, 12u);
  std::set<std::string> tasks;
  std::set<std::pair<std::string, std::string>> pairs;
  for (const json& line : lines_) {
    const RolloutRecord chosen = store_->Read(line["chosen_id"].get<std::string>()).value();
    const RolloutRecord rejected = store_->Read(line["rejected_id"].get<std::string>()).value();
    EXPECT_EQ(line["task"], chosen.task);
    EXPECT_EQ(line["task"], rejected.task);
    EXPECT_EQ(line["chosen_score"], *chosen.score());
    EXPECT_EQ(line["rejected_score"], *rejected.score());
    EXPECT_GT(line["chosen_score"], line["rejected_score"]);
    EXPECT_EQ(line["chosen_prompt_hash"], chosen.prompt_hash);
    EXPECT_EQ(line["rejected_prompt_hash"], rejected.prompt_hash);
    EXPECT_EQ(line["prompt"], chosen.id + " or " + rejected.id);
    const int number = std::stoi(chosen.id.substr(1));
    EXPECT_EQ(line["chosen"],
              number % 2 == 0 ? "answer " + std::to_string(number) + " \xEF\xBF\xBD" : MakeRollout(number).source);
    EXPECT_GT(line["probability"], 0);
    EXPECT_LE(line["probability"], 1);
    tasks.insert(line["task"].get<std::string>());
    EXPECT_TRUE(pairs.emplace(chosen.id, rejected.id).second) << "written twice";
  }
  EXPECT_THAT(tasks, SizeIs(2));
}

TEST_F(ExportTest, ComesAgainAsOfTheSameMoment) {
  PairExportOptions options;
  options.tasks = {"add"};
  options.selection.seed = 5;
  const auto report = Export(options);
  ASSERT_THAT(report, Succeeds());
  const std::vector<json> before = lines_;
  ASSERT_THAT(before, ::testing::Not(IsEmpty()));
  EXPECT_FALSE(before[0].contains("prompt"));
  ASSERT_THAT(store_->Append(MakeRollout(100, "add", 9)), Succeeds());
  options.selection.as_of = report->as_of;
  ASSERT_THAT(Export(options), Succeeds());
  EXPECT_EQ(lines_, before);
}

TEST_F(ExportTest, EqualScoresAreNoPair) {
  for (int i = 20; i < 23; ++i) ASSERT_THAT(store_->Append(MakeRollout(i, "equal", 2)), Succeeds());
  PairExportOptions options;
  options.tasks = {"equal", "unknown"};
  options.pairs = 10;
  const auto report = Export(options);
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->without_contrast, 20u);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(ExportTest, ErrorsOfTheCallbacksEndIt) {
  const auto refuse = [](const RolloutRecord&, const RolloutRecord&) -> Result<std::string> {
    return Error(ErrorCode::kNotFound, "no such task");
  };
  EXPECT_THAT(Export({}, refuse), Fails(ErrorCode::kNotFound, "no such task"));
  const auto full = ExportPairs(*store_, *selector_, {}, nullptr,
                                [](std::string_view) -> Status { return Error(ErrorCode::kExhausted, "disk full"); });
  EXPECT_THAT(full, Fails(ErrorCode::kExhausted, "disk full"));
}

TEST_F(ExportTest, ARecordAsJsonHasEveryField) {
  RolloutRecord record = store_->Read("r2").value();
  const json full = ToJson(record);
  for (const char* field :
       {"sequence",     "id",         "client",    "request_id", "time",           "session",     "turn",
        "task",         "group_id",   "parent",    "exemplars",  "policy_version", "prompt_hash", "response",
        "source",       "code_begin", "code_end",  "result",     "reward_preset",  "reward",      "reward_increment",
        "best_speedup", "terminated", "truncated", "score"}) {
    EXPECT_TRUE(full.contains(field)) << field;
  }
  EXPECT_EQ(full.size(), 25u);
  EXPECT_EQ(full["result"], ToJson(record.result));
  record.reward.reset();
  EXPECT_TRUE(ToJson(record)["reward"].is_null());
}

}  // namespace
}  // namespace touchstone

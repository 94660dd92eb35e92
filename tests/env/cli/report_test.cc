#include "env/cli/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace touchstone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Record RecordOf(EvalStatus status) {
  Record record;
  record.submission.file = "some/where/mine.cc";
  record.result.status = status;
  return record;
}

Record TimedRecord() {
  Record record = RecordOf(EvalStatus::kSuccess);
  record.result.speedup.speedup = 2.3149;
  record.result.speedup.lower = 2.2712;
  record.result.speedup.upper = 2.3588;
  record.result.speedup.interval_stated = true;
  record.result.baseline_us = 812.4;
  record.result.candidate_us = 351.2;
  return record;
}

TEST(ReportTest, ARowHasStatusSpeedupIntervalTimesAndReason) {
  Record wrong = RecordOf(EvalStatus::kIncorrect);
  wrong.result.reason = "output y differs\nin 3 elements";
  const std::string table = FormatTable({TimedRecord(), wrong});
  EXPECT_THAT(table, HasSubstr("mine.cc"));
  EXPECT_THAT(table, Not(HasSubstr("some/where")));
  EXPECT_THAT(table, HasSubstr("success    2.31× [2.271, 2.359]  812.4 µs   351.2 µs"));
  EXPECT_THAT(table, HasSubstr("incorrect  –"));
  EXPECT_THAT(table, HasSubstr("output y differs in 3 elements\n"));
}

TEST(ReportTest, SaysWhyThereIsNoInterval) {
  Record record = TimedRecord();
  record.result.speedup.interval_stated = false;
  record.result.speedup.reason = "3 rounds";
  EXPECT_EQ(FormatSpeedup(record.result), "2.31× (no interval)");
  EXPECT_THAT(FormatDetails(record), HasSubstr("no interval: 3 rounds"));
}

TEST(ReportTest, DetailsHoldFindingsAndTheStartOfTheCompilersWords) {
  Record record = RecordOf(EvalStatus::kCheating);
  record.result.evidence = {{"input_mutated", Evidence::Severity::kCondemns, "x was written", {}},
                            {"note", Evidence::Severity::kInfo, "unimportant", {}}};
  for (int i = 0; i < 20; ++i) record.result.diagnostics += "line" + std::to_string(i) + "\x1b[0m\n";
  const std::string details = FormatDetails(record);
  EXPECT_THAT(details, HasSubstr("condemns: input_mutated: x was written"));
  EXPECT_THAT(details, Not(HasSubstr("unimportant")));
  EXPECT_THAT(details, HasSubstr("line11 [0m\n  … "));
  EXPECT_THAT(details, Not(HasSubstr("line12")));
  EXPECT_EQ(FormatDetails(RecordOf(EvalStatus::kSuccess)), "");
}

TEST(ReportTest, TheExitCodeIsThatOfTheWorstRecord) {
  const Record success = RecordOf(EvalStatus::kSuccess);
  const Record wrong = RecordOf(EvalStatus::kIncorrect);
  const Record unstable = RecordOf(EvalStatus::kUnstable);
  const Record broken = RecordOf(EvalStatus::kEnvironmentError);
  EXPECT_EQ(ExitCodeOf({success, success}), kExitSuccess);
  EXPECT_EQ(ExitCodeOf({success, wrong}), kExitNotSuccessful);
  EXPECT_EQ(ExitCodeOf({unstable}), kExitNotSuccessful);
  EXPECT_EQ(ExitCodeOf({broken, wrong, success}), kExitEnvironment);
}

TEST(ReportTest, ErrorsOfTheCallerAndOfTheEnvironmentHaveDifferentExitCodes) {
  EXPECT_EQ(ExitCodeOf(Error(ErrorCode::kInvalidArgument, "")), kExitUsage);
  EXPECT_EQ(ExitCodeOf(Error(ErrorCode::kNotFound, "")), kExitUsage);
  EXPECT_EQ(ExitCodeOf(Error(ErrorCode::kUnavailable, "")), kExitEnvironment);
  EXPECT_EQ(ExitCodeOf(Error(ErrorCode::kInternal, "")), kExitEnvironment);
}

}  // namespace
}  // namespace touchstone::cli

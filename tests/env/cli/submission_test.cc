#include "env/cli/submission.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace touchstone::cli {
namespace {

Record FullRecord() {
  Record record;
  record.result.id = "id-1";
  record.result.status = EvalStatus::kIncorrect;
  record.result.key_hex = std::string(64, 'a');
  record.submission = {"softmax", "cpu",    "cpp",     "standard", "mine.cc", "// ä \"quoted\"\nint x;\n",
                       "old.cc",  "int y;", "reduced", {2, 3}};
  return record;
}

class RecordFileTest : public ::testing::Test {
 protected:
  void SetUp() override { path_ = ::testing::TempDir() + "records-" + std::to_string(::getpid()) + ".jsonl"; }
  void TearDown() override { std::filesystem::remove(path_); }
  void Write(const std::string& text) { std::ofstream(path_) << text; }
  std::string path_;
};

TEST_F(RecordFileTest, WhatWasAskedForComesBackToTheByte) {
  Record plain = FullRecord();
  plain.submission.baseline_file.reset();
  plain.submission.baseline_source.reset();
  Write(ToLine(FullRecord()) + "\n" + ToLine(plain) + "\n");
  const auto records = ReadRecords(path_);
  ASSERT_TRUE(records.ok()) << records.error().ToString();
  ASSERT_EQ(records->size(), 2u);
  const Submission expected = FullRecord().submission;
  const Submission& read = (*records)[0].submission;
  EXPECT_EQ(read.task, expected.task);
  EXPECT_EQ(read.size, expected.size);
  EXPECT_EQ(read.interface_name, expected.interface_name);
  EXPECT_EQ(read.profile, expected.profile);
  EXPECT_EQ(read.file, expected.file);
  EXPECT_EQ(read.source, expected.source);
  EXPECT_EQ(read.baseline_file, expected.baseline_file);
  EXPECT_EQ(read.baseline_source, expected.baseline_source);
  EXPECT_EQ(read.level, expected.level);
  EXPECT_EQ(read.cpus, expected.cpus);
  EXPECT_EQ((*records)[0].result.key_hex, FullRecord().result.key_hex);
  EXPECT_EQ((*records)[0].result.status, EvalStatus::kIncorrect);
  EXPECT_FALSE((*records)[1].submission.baseline_source.has_value());
}

TEST_F(RecordFileTest, OneIndentedObjectIsARecordToo) {
  Write(nlohmann::json::parse(ToLine(FullRecord())).dump(2));
  const auto records = ReadRecords(path_);
  ASSERT_TRUE(records.ok()) << records.error().ToString();
  EXPECT_EQ(records->size(), 1u);
}

TEST_F(RecordFileTest, ErrorsNameFileAndLineOrField) {
  EXPECT_EQ(ReadRecords(path_).error().code(), ErrorCode::kNotFound);
  Write("");
  EXPECT_EQ(ReadRecords(path_).error().code(), ErrorCode::kInvalidArgument);
  Write(ToLine(FullRecord()) + "\n{half\n");
  EXPECT_NE(ReadRecords(path_).error().message().find(path_ + ":2"), std::string::npos);
  auto without = nlohmann::json::parse(ToLine(FullRecord()));
  without.erase("submission");
  Write(without.dump());
  EXPECT_NE(ReadRecords(path_).error().message().find("submission"), std::string::npos);
  auto wrong = nlohmann::json::parse(ToLine(FullRecord()));
  wrong["submission"]["source"] = 7;
  Write(wrong.dump());
  EXPECT_EQ(ReadRecords(path_).error().code(), ErrorCode::kInvalidArgument);
  Write("[1]");
  EXPECT_EQ(ReadRecords(path_).error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace touchstone::cli

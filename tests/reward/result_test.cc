#include "reward/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tests/reward/full_result.h"

namespace touchstone {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(Result, RoundTripsThroughText) {
  const json first = ToJson(FullResult());
  const Result<EvalResult> back = EvalResultFromJson(json::parse(first.dump()));
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(ToJson(*back), first);
  EXPECT_EQ(back->trials[1].candidate.first_mismatch, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(back->trials[0].candidate.rms_error, 5e-324);
  EXPECT_EQ(back->evidence[0].severity, Evidence::Severity::kCondemns);
  EXPECT_EQ(back->fault(), Fault::kCandidate);
  EXPECT_TRUE(EvalResultFromJson(ToJson(EvalResult{})).ok());
}

// A field that is left out of the list in result.cc, or given a default in FullResult(), shows here.
TEST(Result, EveryFieldOfTheFullResultDiffersFromTheEmptyOne) {
  const json full = ToJson(FullResult()), empty = ToJson(EvalResult{});
  for (const auto& [key, value] : full.items()) {
    if (key == "schema") continue;
    EXPECT_NE(value, empty[key]) << key;
  }
  for (const auto& [key, value] : full["speedup"].items()) EXPECT_NE(value, empty["speedup"][key]) << key;
}

TEST(Result, NumbersThatJsonLacksSurvive) {
  EvalResult r;
  r.floor_us = std::numeric_limits<double>::infinity();
  r.speedup.lower = -r.floor_us;
  r.calibration = {{"x", std::nan("")}};
  const Result<EvalResult> back = EvalResultFromJson(json::parse(ToJson(r).dump()));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->floor_us, r.floor_us);
  EXPECT_EQ(back->speedup.lower, r.speedup.lower);
  EXPECT_TRUE(std::isnan(back->calibration.at("x")));
}

TEST(Result, BytesThatAreNotUtf8AreReplaced) {
  EvalResult r;
  r.diagnostics = "a\xff\xfe z";
  EXPECT_EQ(json::parse(ToJson(r).dump())["diagnostics"], "a\xef\xbf\xbd\xef\xbf\xbd z");
}

std::string ErrorOf(const json& j) {
  const Result<EvalResult> result = EvalResultFromJson(j);
  if (result.ok()) return "no error";
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
  return result.error().message();
}

TEST(Result, ErrorsNameTheField) {
  const json good = ToJson(FullResult());
  const auto with = [&](const std::string& pointer, const json& value) {
    json j = good;
    j[json::json_pointer(pointer)] = value;
    return ErrorOf(j);
  };
  EXPECT_EQ(with("/trials/1/candidate/max_abs", "big"), "trials[1].candidate.max_abs: is not a number");
  EXPECT_EQ(with("/trials/0/trial", 1.5), "trials[0].trial: is not an integer");
  EXPECT_EQ(with("/trials/0/trial", int64_t{1} << 32), "trials[0].trial: is too large");
  EXPECT_EQ(with("/trials/0/candidate/count", -1), "trials[0].candidate.count: is not a non-negative integer");
  EXPECT_EQ(with("/dims/n", std::numeric_limits<uint64_t>::max()), "dims.n: is too large");
  EXPECT_EQ(with("/rounds/0", 3), "rounds[0]: is not an object");
  EXPECT_EQ(with("/rounds", json::object()), "rounds: is not an array");
  EXPECT_EQ(with("/layers/1", nullptr), "layers[1]: is not a string");
  EXPECT_EQ(with("/launch_bound", 1), "launch_bound: is not true or false");
  EXPECT_EQ(with("/status", "fine"), "status: has the unknown value 'fine'");
  EXPECT_EQ(with("/evidence/0/severity", "bad"), "evidence[0].severity: has the unknown value 'bad'");
  EXPECT_EQ(with("/speedup/extra", 1), "speedup.extra: is not a known field");
  EXPECT_EQ(with("/extra", 1), "extra: is not a known field");
  EXPECT_EQ(with("/schema", 2), "schema: is 2, this program reads 1");
  EXPECT_EQ(with("/fault", "none"), "fault: must be 'candidate'");
  EXPECT_EQ(ErrorOf(json::array()), "the result: is not an object");
}

void RemoveEach(const json& whole, const json::json_pointer& at, const std::string& path) {
  const json& value = whole.at(at);
  if (value.is_array()) return RemoveEach(whole, at / 0, path + "[0]");
  if (!value.is_object()) return;
  static const std::set<std::string> free_maps = {"dims", "numbers", "budget_ms", "calibration", "environment"};
  if (free_maps.count(at.empty() ? "" : at.back()) > 0) return;
  for (const auto& [key, unused] : value.items()) {
    json less = whole;
    less.at(at).erase(key);
    const std::string name = path.empty() ? key : path + "." + key;
    EXPECT_EQ(ErrorOf(less), name + ": is missing");
    RemoveEach(whole, at / key, name);
  }
}

TEST(Result, EveryMissingFieldIsAnError) { RemoveEach(ToJson(FullResult()), json::json_pointer(), ""); }

TEST(Result, NamesOfStatusesAreFixed) {
  const std::vector<std::pair<EvalStatus, std::string>> table = {
      {EvalStatus::kFormatError, "format_error candidate"},
      {EvalStatus::kRejectedStatic, "rejected_static candidate"},
      {EvalStatus::kCompileError, "compile_error candidate"},
      {EvalStatus::kLoadError, "load_error candidate"},
      {EvalStatus::kRuntimeError, "runtime_error candidate"},
      {EvalStatus::kTimeout, "timeout candidate"},
      {EvalStatus::kOutOfMemory, "out_of_memory candidate"},
      {EvalStatus::kIncorrect, "incorrect candidate"},
      {EvalStatus::kCheating, "cheating candidate"},
      {EvalStatus::kBelowFloor, "below_floor candidate"},
      {EvalStatus::kSuccess, "success none"},
      {EvalStatus::kUnstable, "unstable none"},
      {EvalStatus::kUnverified, "unverified none"},
      {EvalStatus::kEnvironmentError, "environment_error environment"},
      {EvalStatus::kCancelled, "cancelled none"},
      {EvalStatus::kDeadline, "deadline none"},
  };
  for (const auto& [status, text] : table) {
    EXPECT_EQ(std::string(ToString(status)) + " " + std::string(ToString(FaultOf(status))), text);
    EXPECT_EQ(EvalStatusFromString(ToString(status)), status);
  }
  EXPECT_EQ(EvalStatusFromString("Success"), std::nullopt);
}

// Paths of all fields: "trials[].candidate.count". What is below a map with free names is not a field.
void Flatten(const json& value, const std::string& path, std::set<std::string>& paths) {
  static const std::set<std::string> free_maps = {"dims", "evidence[].numbers", "budget_ms", "calibration",
                                                  "environment"};
  if (value.is_array() && !value.empty()) return Flatten(value[0], path + "[]", paths);
  if (!value.is_object() || free_maps.count(path) > 0) return;
  for (const auto& [key, child] : value.items()) {
    const std::string name = path.empty() ? key : path + "." + key;
    paths.insert(name);
    Flatten(child, name, paths);
  }
}

// Every `…` of a line.
std::vector<std::string> Quoted(const std::string& line) {
  std::vector<std::string> parts;
  for (size_t at = line.find('`'); at != std::string::npos;) {
    const size_t end = line.find('`', at + 1);
    if (end == std::string::npos) break;
    parts.push_back(line.substr(at + 1, end - at - 1));
    at = line.find('`', end + 1);
  }
  return parts;
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

// docs/result.md: a heading names the objects that the table below it describes, a row's first cell a field. Tables
// below other headings are for people.
TEST(Result, EveryFieldIsDocumentedAndNothingElse) {
  std::ifstream file(TOUCHSTONE_RESULT_DOC);
  ASSERT_TRUE(file.is_open());
  std::set<std::string> documented;
  std::vector<std::string> objects;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("### ", 0) == 0) {
      objects = line == "### The result" ? std::vector<std::string>{""} : Quoted(line);
    } else if (line.rfind("| `", 0) == 0) {
      const std::vector<std::string> quoted = Quoted(line);
      ASSERT_FALSE(quoted.empty()) << line;
      for (const std::string& object : objects) {
        EXPECT_TRUE(documented.insert(object.empty() ? quoted[0] : object + "." + quoted[0]).second) << line;
      }
      const size_t meaning = line.find('|', line.find('|', 1) + 1);
      ASSERT_NE(meaning, std::string::npos) << line;
      EXPECT_GT(line.size(), meaning + 8) << "no meaning: " << line;
    }
  }
  std::set<std::string> fields;
  Flatten(ToJson(FullResult()), "", fields);
  EXPECT_EQ(documented, fields);
}

TEST(Result, EveryStatusIsDocumented) {
  const std::string text = ReadAll(TOUCHSTONE_RESULT_DOC);
  for (int i = 0; i <= static_cast<int>(EvalStatus::kDeadline); ++i) {
    EXPECT_THAT(text, HasSubstr("`" + std::string(ToString(static_cast<EvalStatus>(i))) + "`"));
  }
}

// The names in front of `, Evidence::Severity::…`.
std::vector<std::string> FindingsIn(const std::string& source) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = source.find("Evidence::Severity::k", at)) != std::string::npos; ++at) {
    const size_t comma = source.find_last_not_of(" \n", at - 1);
    if (comma == std::string::npos || comma < 2 || source[comma] != ',' || source[comma - 1] != '"') continue;
    const size_t open = source.rfind('"', comma - 2);
    names.push_back(source.substr(open + 1, comma - open - 2));
  }
  return names;
}

// The names in `map["…"]`.
std::vector<std::string> EntriesIn(const std::string& source, const std::string& map) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = source.find(map + "[\"", at)) != std::string::npos;) {
    at += map.size() + 2;
    names.push_back(source.substr(at, source.find('"', at) - at));
  }
  return names;
}

// The names that our sources give to findings and to entries of free maps, each as a row of a table in the document.
TEST(Result, EveryFindingAndNamedNumberIsDocumented) {
  const std::string doc = ReadAll(TOUCHSTONE_RESULT_DOC);
  size_t findings = 0, entries = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(TOUCHSTONE_REWARD_FOLDER)) {
    if (file.path().extension() != ".cc") continue;
    const std::string source = ReadAll(file.path());
    std::vector<std::string> names = FindingsIn(source);
    findings += names.size();
    for (const char* map : {"budget_ms", "calibration", "environment"}) {
      for (const std::string& name : EntriesIn(source, map)) {
        names.push_back(name);
        ++entries;
      }
    }
    for (const std::string& name : names) {
      EXPECT_NE(doc.find("| `" + name + "` |"), std::string::npos)
          << "add a row for `" << name << "` to docs/result.md; it stands in " << file.path();
    }
  }
  EXPECT_GE(findings, 8u) << "the search fits the sources no longer";
  EXPECT_GE(entries, 8u) << "the search fits the sources no longer";
}

}  // namespace
}  // namespace touchstone

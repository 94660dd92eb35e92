// A record as `touchstone eval --json` writes it: the fields of the result, and beside them `submission`, which is what
// had been asked for. Together they are enough to run the same evaluation again.
#ifndef TOUCHSTONE_ENV_CLI_SUBMISSION_H_
#define TOUCHSTONE_ENV_CLI_SUBMISSION_H_

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reward/result.h"

namespace touchstone::cli {

struct Submission {
  std::string task;  // as it was named: an id or a path
  std::string size = "cpu";
  std::string interface_name = "cpp";
  std::string profile = "quick";  // as it was named
  std::string file;               // where the candidate came from; for people
  std::string source;
  std::optional<std::string> baseline_file;
  std::optional<std::string> baseline_source;
  std::string level = "full";
  std::vector<int> cpus;
};

struct Record {
  EvalResult result;
  Submission submission;
};

// One line of JSON, without the line feed.
std::string ToLine(const Record& record);

// kInvalidArgument names the field.
Result<Record> RecordFromJson(nlohmann::json json);

// Every record of a file: one JSON object, or one a line. kNotFound, kInvalidArgument (names file and line).
Result<std::vector<Record>> ReadRecords(const std::string& path);

}  // namespace touchstone::cli

#endif  // TOUCHSTONE_ENV_CLI_SUBMISSION_H_

#include "env/cli/submission.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <utility>

namespace touchstone::cli {
namespace {

using nlohmann::json;

json ToJson(const Submission& submission) {
  json object{{"task", submission.task},       {"size", submission.size}, {"interface", submission.interface_name},
              {"profile", submission.profile}, {"file", submission.file}, {"source", submission.source},
              {"level", submission.level},     {"cpus", submission.cpus}, {"baseline_file", nullptr},
              {"baseline_source", nullptr}};
  if (submission.baseline_file) object["baseline_file"] = *submission.baseline_file;
  if (submission.baseline_source) object["baseline_source"] = *submission.baseline_source;
  return object;
}

// Throws json::exception where a field is missing or of another type.
Submission SubmissionFromJson(const json& object) {
  Submission submission;
  object.at("task").get_to(submission.task);
  object.at("size").get_to(submission.size);
  object.at("interface").get_to(submission.interface_name);
  object.at("profile").get_to(submission.profile);
  object.at("file").get_to(submission.file);
  object.at("source").get_to(submission.source);
  object.at("level").get_to(submission.level);
  object.at("cpus").get_to(submission.cpus);
  if (!object.at("baseline_file").is_null()) submission.baseline_file = object["baseline_file"].get<std::string>();
  if (!object.at("baseline_source").is_null())
    submission.baseline_source = object["baseline_source"].get<std::string>();
  return submission;
}

}  // namespace

std::string ToLine(const Record& record) {
  json object = touchstone::ToJson(record.result);
  object["submission"] = ToJson(record.submission);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Record> RecordFromJson(json object) {
  if (!object.is_object()) return Error(ErrorCode::kInvalidArgument, "not a JSON object");
  Record record;
  try {
    record.submission = SubmissionFromJson(object.at("submission"));
  } catch (const json::exception& error) {
    return Error(ErrorCode::kInvalidArgument, std::string("submission: ") + error.what());
  }
  object.erase("submission");
  TOUCHSTONE_ASSIGN(record.result, EvalResultFromJson(object));
  return record;
}

Result<std::vector<Record>> ReadRecords(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error(ErrorCode::kNotFound, "cannot read " + path);
  std::stringstream content;
  content << file.rdbuf();

  std::vector<json> objects;
  if (json whole = json::parse(content.str(), nullptr, false); !whole.is_discarded()) {
    objects.push_back(std::move(whole));
  } else {
    std::string line;
    for (int number = 1; std::getline(content, line); ++number) {
      if (line.empty()) continue;
      objects.push_back(json::parse(line, nullptr, false));
      if (objects.back().is_discarded()) {
        return Error(ErrorCode::kInvalidArgument, path + ":" + std::to_string(number) + ": not JSON");
      }
    }
  }
  std::vector<Record> records;
  for (json& object : objects) {
    auto record = RecordFromJson(std::move(object));
    if (!record.ok()) return record.error().Within(path + ": record " + std::to_string(records.size() + 1));
    records.push_back(std::move(record).value());
  }
  if (records.empty()) return Error(ErrorCode::kInvalidArgument, path + " holds no record");
  return records;
}

}  // namespace touchstone::cli

// touchstone reproduce: the same evaluation again, with the stored key.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/cli/command.h"
#include "env/cli/json_lines.h"
#include "env/cli/progress.h"
#include "env/cli/report.h"
#include "env/cli/session.h"
#include "env/cli/slot.h"
#include "env/cli/submission.h"
#include "env/cli/table.h"
#include "reward/task/catalog.h"

namespace touchstone::cli {
namespace {

constexpr char kExamples[] = R"(
Examples:
  touchstone reproduce results.jsonl                 every record of the file
  touchstone reproduce results.jsonl --id ID
  touchstone reproduce results.jsonl --json again.jsonl

The records are those that `touchstone eval --json` writes: they hold the sources and the judge's key, so that inputs,
hidden shapes and the order of calls are the same. Times are not: they are measured anew.

Exit codes: 0 every status is what it was; 1 some differ; 2 bad arguments or input; 3 the environment failed.)";

struct Options {
  std::string file;
  std::string id;
  std::string json;
  std::string task;
  SlotOptions slot;
};

struct Pair {
  Record before;
  Record after;
};

Result<std::vector<Record>> Select(const Options& options) {
  TOUCHSTONE_ASSIGN(std::vector<Record> records, ReadRecords(options.file));
  if (options.id.empty()) return records;
  for (Record& record : records) {
    if (record.result.id == options.id) return std::vector<Record>{std::move(record)};
  }
  return Error(ErrorCode::kNotFound, "no record '" + options.id + "' in " + options.file);
}

// The record must be about what this machine would evaluate now: the same task, to the byte.
Result<Record> Again(const Options& options, const Record& before) {
  const Submission& submission = before.submission;
  TOUCHSTONE_ASSIGN(const SecretKey key, KeyFromHex(before.result.key_hex));
  TOUCHSTONE_ASSIGN(const Task task, FindTask(options.task.empty() ? submission.task : options.task));
  if (task.content_hash != before.result.task_hash) {
    return Error(ErrorCode::kInvalidArgument, "task " + task.id + " (" + task.source_file +
                                                  ") is not the one of the record: its content has changed");
  }
  TOUCHSTONE_ASSIGN(const MeasurementProfile profile, LoadProfile(submission.profile));
  SlotOptions slot = options.slot;
  if (slot.level.empty()) slot.level = submission.level;
  if (slot.cpus.empty()) slot.cpus = submission.cpus;
  TOUCHSTONE_ASSIGN(const std::unique_ptr<Evaluator> evaluator, MakeEvaluator(slot));
  return EvaluateSubmission(*evaluator, task, profile, submission, key);
}

Result<std::vector<Pair>> Run(const Options& options) {
  TOUCHSTONE_ASSIGN(std::vector<Record> records, Select(options));
  std::optional<JsonLines> json;
  if (!options.json.empty()) {
    TOUCHSTONE_ASSIGN(json, JsonLines::Open(options.json));
  }
  std::vector<Pair> pairs;
  Progress progress(records.size());
  for (Record& before : records) {
    progress.Show(pairs.size(), before.submission.file);
    auto after = Again(options, before);
    if (!after.ok()) return after.error().Within("record " + before.result.id);
    if (json) TOUCHSTONE_RETURN_IF_ERROR(json->Write(ToLine(*after)));
    pairs.push_back({std::move(before), std::move(after).value()});
  }
  return pairs;
}

ExitCode Reproduce(const Options& options) {
  const auto pairs = Run(options);
  if (!pairs.ok()) return Fail(pairs.error());
  Table table({{"candidate"}, {"then"}, {"now"}, {"speedup then"}, {"speedup now"}, {"reason now"}});
  std::vector<Record> after;
  bool same = true;
  for (const Pair& pair : *pairs) {
    const EvalResult& then = pair.before.result;
    const EvalResult& now = pair.after.result;
    same = same && then.status == now.status;
    table.Add({OneLine(pair.before.submission.file), std::string(ToString(then.status)),
               std::string(ToString(now.status)), FormatSpeedup(then), FormatSpeedup(now), OneLine(now.reason)});
    after.push_back(pair.after);
  }
  if (options.json != "-") std::fputs(table.ToString().c_str(), stdout);
  if (ExitCodeOf(after) == kExitEnvironment && !same) return kExitEnvironment;
  return same ? kExitSuccess : kExitNotSuccessful;
}

}  // namespace

void AddReproduceCommand(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("reproduce", "Run stored evaluations again with their stored keys");
  command->footer(kExamples);
  command->add_option("file", options->file, "Records of touchstone eval --json")->required();
  command->add_option("--id", options->id, "Only this record");
  command->add_option("--task", options->task, "The task's YAML file, where it is no longer found by its name");
  command->add_option("--json", options->json, "Write the new records, one a line, to this file; - is standard output");
  options->slot.level.clear();  // unless given, the record's
  AddSlotOptions(*command, options->slot);
  command->callback([options, &action] { action = [options] { return Reproduce(*options); }; });
}

}  // namespace touchstone::cli

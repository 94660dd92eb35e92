// touchstone eval: one or many candidates of a task.
#include <CLI/CLI.hpp>
#include <unistd.h>

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
#include "reward/task/catalog.h"

namespace touchstone::cli {
namespace {

constexpr char kExamples[] = R"(
Examples:
  touchstone eval add mine.cc                          verdict, speedup against the task's reference, reason
  touchstone eval softmax a.cc b.cc c.cc               a table
  touchstone eval softmax new.cc --baseline old.cc     speedup against another candidate
  touchstone eval my_task.yaml mine.cc --profile standard --size cpu
  touchstone eval add mine.cc --json -                 the full record on standard output, and no table
  touchstone eval add *.cc --json results.jsonl --cpus 2,3

The signature that a candidate must define: touchstone tasks show TASK. Fields of a record: docs/result.md; a record
also holds the sources ("submission"), so that touchstone reproduce can run it again.

Exit codes: 0 every candidate was successful; 1 some were not; 2 bad arguments or input; 3 the environment failed.)";

struct Options {
  std::string task;
  std::vector<std::string> candidates;
  std::string baseline;
  std::string profile = "quick";
  std::string size = "cpu";
  std::string json;
  SlotOptions slot;
};

// Everything is read before anything runs: a bad argument costs no evaluation.
Result<std::vector<Submission>> ReadSubmissions(const Options& options) {
  Submission common;
  common.task = options.task;
  common.size = options.size;
  common.profile = options.profile;
  common.level = options.slot.level;
  common.cpus = options.slot.cpus;
  if (!options.baseline.empty()) {
    common.baseline_file = options.baseline;
    TOUCHSTONE_ASSIGN(common.baseline_source, ReadSource(options.baseline));
  }
  std::vector<Submission> submissions;
  for (const std::string& path : options.candidates) {
    Submission submission = common;
    submission.file = path;
    TOUCHSTONE_ASSIGN(submission.source, ReadSource(path));
    submissions.push_back(std::move(submission));
  }
  return submissions;
}

Result<std::vector<Record>> Run(const Options& options) {
  TOUCHSTONE_ASSIGN(const Task task, FindTask(options.task));
  if (const auto dims = task.Size(options.size); !dims.ok()) return dims.error();
  TOUCHSTONE_ASSIGN(const MeasurementProfile profile, LoadProfile(options.profile));
  TOUCHSTONE_ASSIGN(std::vector<Submission> submissions, ReadSubmissions(options));
  std::optional<JsonLines> json;
  if (!options.json.empty()) {
    TOUCHSTONE_ASSIGN(json, JsonLines::Open(options.json));
  }
  TOUCHSTONE_ASSIGN(const std::unique_ptr<Evaluator> evaluator, MakeEvaluator(options.slot));

  std::vector<Record> records;
  Progress progress(submissions.size());
  for (Submission& submission : submissions) {
    progress.Show(records.size(), submission.file);
    TOUCHSTONE_ASSIGN(Record record, EvaluateSubmission(*evaluator, task, profile, std::move(submission)));
    if (json) TOUCHSTONE_RETURN_IF_ERROR(json->Write(ToLine(record)));
    records.push_back(std::move(record));
  }
  return records;
}

ExitCode Eval(const Options& options) {
  const auto records = Run(options);
  if (!records.ok()) return Fail(records.error());
  if (options.json != "-") {
    const EvalResult& first = records->front().result;
    std::printf("task %s, size %s, profile %s, against %s, isolation %s\n\n%s", first.task.c_str(),
                options.size.c_str(), first.profile.c_str(),
                options.baseline.empty() ? "the reference" : options.baseline.c_str(), first.level.c_str(),
                FormatTable(*records).c_str());
    for (const Record& record : *records) {
      if (const std::string details = FormatDetails(record); !details.empty()) std::printf("\n%s", details.c_str());
    }
  }
  return ExitCodeOf(*records);
}

}  // namespace

void AddEvalCommand(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("eval", "Judge one or many candidates of a task");
  command->footer(kExamples);
  command->add_option("task", options->task, "Id of a task, or a YAML file")->required();
  command->add_option("candidates", options->candidates, "Source files")->required();
  command->add_option("--baseline", options->baseline, "Source file to compare with, instead of the task's reference");
  command->add_option("--profile", options->profile, "How to measure: check, quick, standard, strict, or a YAML file")
      ->capture_default_str();
  command->add_option("--size", options->size, "Named size of the task")->capture_default_str();
  command->add_option("--json", options->json, "Write full records, one a line, to this file; - is standard output");
  AddSlotOptions(*command, options->slot);
  command->callback([options, &action] { action = [options] { return Eval(*options); }; });
}

}  // namespace touchstone::cli

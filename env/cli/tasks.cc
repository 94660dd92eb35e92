// touchstone tasks: what can be asked, and whether a task is fit to be asked.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "env/cli/command.h"
#include "env/cli/progress.h"
#include "env/cli/table.h"
#include "reward/task/catalog.h"
#include "reward/task/check_task.h"
#include "sandbox/box/spawner.h"

namespace touchstone::cli {
namespace {

constexpr char kExamples[] = R"(
Examples:
  touchstone tasks list
  touchstone tasks list --folder my_tasks
  touchstone tasks show softmax
  touchstone tasks show my_task.yaml
  touchstone tasks check                    every shipped task: does its check refuse wrong outputs?
  touchstone tasks check softmax my_task.yaml

`check` runs the reference, then holds wrong outputs (zeros, constants, a copy of an input, the previous output, permuted
rows, one wrong element, lower precision) against the task's own tolerance. "tolerance used" is the share that the
reference itself needs, "coarser at" how many times the tolerance the next coarser type would need (float16 for float32).

Exit codes of check: 0 every task is admitted; 1 some are not; 2 bad arguments or task; 3 the environment failed.)";

std::string JoinNames(const Task& task) {
  std::string names;
  for (const auto& [name, dims] : task.sizes) names += (names.empty() ? "" : " ") + name;
  return names;
}

ExitCode List(const std::string& folder) {
  const auto tasks = LoadTasks(folder.empty() ? DefaultTaskFolder() : folder);
  if (!tasks.ok()) return Fail(tasks.error());
  Table table({{"task"}, {"title"}, {"sizes"}});
  for (const Task& task : *tasks) table.Add({task.id, OneLine(task.title), JoinNames(task)});
  std::fputs(table.ToString().c_str(), stdout);
  return kExitSuccess;
}

std::string DescribeTensor(const TensorSpec& tensor, const DimValues& dims) {
  std::string text = std::string(ToString(tensor.dtype)) + " " + tensor.name + "[";
  for (size_t i = 0; i < tensor.shape.size(); ++i) text += (i > 0 ? ", " : "") + tensor.shape[i];
  text += "]";
  if (const auto shape = EvaluateShape(tensor, dims); shape.ok()) {
    text += " = [";
    for (size_t i = 0; i < shape->size(); ++i) text += (i > 0 ? ", " : "") + std::to_string((*shape)[i]);
    text += "]";
  }
  return text + (tensor.in_place ? "  (overwritten in place)" : "");
}

// "0.12": how much of the tolerance the reference itself uses; "12": how far a coarser type is beyond it.
std::string FormatRatio(double ratio) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2g", ratio);
  return text;
}

struct CheckOptions {
  std::vector<std::string> tasks;
  std::string size = "cpu";
  std::string level = "full";
};

Result<std::vector<Task>> TasksToCheck(const CheckOptions& options) {
  if (options.tasks.empty()) return LoadTasks(DefaultTaskFolder());
  std::vector<Task> tasks;
  for (const std::string& name : options.tasks) {
    TOUCHSTONE_ASSIGN(Task task, FindTask(name));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

Result<std::vector<AdmissionReport>> RunChecks(const CheckOptions& options) {
  TOUCHSTONE_ASSIGN(const std::vector<Task> tasks, TasksToCheck(options));
  CheckTaskOptions check;
  check.size = options.size;
  check.key = NewSecretKey();
  check.minimum_level = LevelFromString(options.level).value_or(Level::kFull);
  TOUCHSTONE_ASSIGN(Spawner spawner, Spawner::Launch());
  std::vector<AdmissionReport> reports;
  Progress progress(tasks.size());
  for (const Task& task : tasks) {
    progress.Show(reports.size(), task.id);
    auto report = CheckTask(task, spawner, check);
    if (!report.ok()) return report.error().Within(task.id);
    reports.push_back(std::move(report).value());
  }
  return reports;
}

ExitCode Check(const CheckOptions& options) {
  const auto reports = RunChecks(options);
  if (!reports.ok()) return Fail(reports.error());
  using Align = Table::Align;
  Table table({{"task"},
               {"output"},
               {"admitted"},
               {"mutants caught", Align::kRight},
               {"tolerance used", Align::kRight},
               {"coarser at", Align::kRight},
               {"reference", Align::kRight},
               {"GB/s", Align::kRight},
               {"GFLOP/s", Align::kRight}});
  std::string findings;
  for (const AdmissionReport& report : *reports) {
    for (const OutputReport& output : report.outputs) {
      int caught = 0;
      int counted = 0;
      for (const MutantReport& mutant : report.mutants) {
        if (mutant.output != output.output || mutant.fate == MutantReport::Fate::kEquivalent) continue;
        ++counted;
        caught += mutant.fate == MutantReport::Fate::kCaught ? 1 : 0;
      }
      table.Add({report.task, output.output, report.admitted() ? "yes" : "NO",
                 std::to_string(caught) + "/" + std::to_string(counted), FormatRatio(output.tolerance_used),
                 output.lower_distance > 0 ? FormatRatio(output.lower_distance) : "–",
                 FormatMicroseconds(report.reference_us), FormatRatio(report.reference_gb_per_s),
                 FormatRatio(report.reference_gflop_per_s)});
    }
    for (const std::string& finding : report.findings) findings += report.task + ": " + OneLine(finding) + "\n";
  }
  std::printf("%s%s", table.ToString().c_str(), findings.empty() ? "" : ("\n" + findings).c_str());
  return findings.empty() ? kExitSuccess : kExitNotSuccessful;
}

ExitCode Show(const std::string& name, const std::string& size) {
  const auto task = FindTask(name);
  if (!task.ok()) return Fail(task.error());
  const auto dims = task->Size(size);
  if (!dims.ok()) return Fail(dims.error());

  std::printf("%s: %s\n\n%s\n", task->id.c_str(), task->title.c_str(), task->description.c_str());
  for (const TensorSpec& input : task->inputs) std::printf("  in   %s\n", DescribeTensor(input, *dims).c_str());
  for (const OutputSpec& output : task->outputs) {
    std::printf("  out  %s  tolerance rtol %g, atol %g", DescribeTensor(output.tensor, *dims).c_str(),
                output.tolerance.rtol, output.tolerance.atol);
    if (output.tolerance.rms > 0) std::printf(", rms %g", output.tolerance.rms);
    std::printf("\n");
  }
  std::printf("\nA candidate for the interface cpp defines\n\n  %s\n\n", RenderCppSignature(*task).c_str());
  std::printf("and may use %d thread%s at once%s. Sizes: %s. Definition: %s\n", task->policy.threads,
              task->policy.threads == 1 ? "" : "s", task->policy.openmp ? " (OpenMP allowed)" : "",
              JoinNames(*task).c_str(), task->source_file.c_str());
  return kExitSuccess;
}

}  // namespace

void AddTasksCommand(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("tasks", "List, show and check tasks");
  command->footer(kExamples);
  command->require_subcommand(1);

  auto folder = std::make_shared<std::string>();
  CLI::App* list = command->add_subcommand("list", "Every task of a folder");
  list->add_option("--folder", *folder, "Folder of YAML files (default: the shipped tasks)");
  list->callback([folder, &action] { action = [folder] { return List(*folder); }; });

  auto name = std::make_shared<std::string>();
  auto size = std::make_shared<std::string>("cpu");
  CLI::App* show = command->add_subcommand("show", "Description, tensors, tolerance and the signature to define");
  show->add_option("task", *name, "Id of a task, or a YAML file")->required();
  show->add_option("--size", *size, "Named size")->capture_default_str();
  show->callback([name, size, &action] { action = [name, size] { return Show(*name, *size); }; });

  auto options = std::make_shared<CheckOptions>();
  CLI::App* check = command->add_subcommand("check", "Whether tasks can tell right from wrong (admission)");
  check->add_option("tasks", options->tasks, "Ids or YAML files (default: all shipped tasks)");
  check->add_option("--size", options->size, "Named size")->capture_default_str();
  check->add_option("--level", options->level, "Isolation that the host must give")
      ->check(CLI::IsMember({"full", "reduced", "none"}))
      ->capture_default_str();
  check->callback([options, &action] { action = [options] { return Check(*options); }; });
}

}  // namespace touchstone::cli

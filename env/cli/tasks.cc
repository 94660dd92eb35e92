// touchstone tasks: what can be asked, and whether a task is fit to be asked.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "env/cli/command.h"
#include "env/cli/table.h"
#include "reward/task/catalog.h"

namespace touchstone::cli {
namespace {

constexpr char kExamples[] = R"(
Examples:
  touchstone tasks list
  touchstone tasks list --folder my_tasks
  touchstone tasks show softmax
  touchstone tasks show my_task.yaml
  touchstone tasks check softmax add)";

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
}

}  // namespace touchstone::cli

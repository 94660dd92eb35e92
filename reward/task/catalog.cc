#include "reward/task/catalog.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/memfd.h"
#include "base/program_folder.h"
#include "reward/task/yaml_cursor.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".yaml";

}  // namespace

Result<Task> LoadTask(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoError(ErrorCode::kNotFound, path);
  auto text = ReadAll(file.get(), kMaxYamlBytes);
  if (!text.ok()) return text.error().Within(path);
  return ParseTask(*text, path);
}

Result<std::vector<Task>> LoadTasks(const std::string& folder) {
  std::error_code error;
  std::vector<Task> tasks;
  std::vector<std::string> paths;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == kExtension) paths.push_back(entry->path().string());
  }
  if (error) return Error(ErrorCode::kNotFound, "task folder " + folder + ": " + error.message());
  for (const std::string& path : paths) {
    TOUCHSTONE_ASSIGN(Task task, LoadTask(path));
    tasks.push_back(std::move(task));
  }
  std::sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) { return a.id < b.id; });
  for (size_t i = 1; i < tasks.size(); ++i) {
    if (tasks[i].id == tasks[i - 1].id) {
      return Error(ErrorCode::kInvalidArgument, tasks[i].source_file + ":1: id: '" + tasks[i].id + "' is the id of " +
                                                    tasks[i - 1].source_file + ", too");
    }
  }
  return tasks;
}

std::string DefaultTaskFolder() {
  if (const char* folder = std::getenv("TOUCHSTONE_TASKS"); folder != nullptr && *folder != '\0') return folder;
  std::error_code error;
  for (fs::path up = ProgramFolder(); !up.empty(); up = up.parent_path()) {
    for (const char* below : {"configs/tasks", "share/touchstone/configs/tasks"}) {
      if (fs::is_directory(up / below, error)) return (up / below).string();
    }
    if (up == up.root_path()) break;
  }
  return "configs/tasks";
}

Result<Task> FindTask(const std::string& id_or_path) {
  if (id_or_path.find('/') != std::string::npos || fs::path(id_or_path).extension() == kExtension) {
    return LoadTask(id_or_path);
  }
  TOUCHSTONE_ASSIGN(const auto tasks, LoadTasks(DefaultTaskFolder()));
  std::string ids;
  for (const Task& task : tasks) {
    if (task.id == id_or_path) return task;
    ids += (ids.empty() ? "" : ", ") + task.id;
  }
  return Error(ErrorCode::kNotFound, "no task '" + id_or_path + "' in " + DefaultTaskFolder() + "; there are: " + ids);
}

}  // namespace touchstone

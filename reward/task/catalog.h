#ifndef TOUCHSTONE_REWARD_TASK_CATALOG_H_
#define TOUCHSTONE_REWARD_TASK_CATALOG_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "reward/task/task.h"

namespace touchstone {

// Parses one native task. Errors name file, line and key: "configs/tasks/add.yaml:12: inputs[0].dtype: …".
Result<Task> LoadTask(const std::string& path);
Result<Task> ParseTask(const std::string& yaml, const std::string& name_for_errors);

// Every task of a folder, sorted by id. One bad file is an error.
Result<std::vector<Task>> LoadTasks(const std::string& folder);

// The folder of the shipped tasks: $TOUCHSTONE_TASKS, else configs/tasks beside the program's install or source tree.
std::string DefaultTaskFolder();

// A path of a YAML file, or the id of a shipped task.
Result<Task> FindTask(const std::string& id_or_path);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_TASK_CATALOG_H_

#ifndef TOUCHSTONE_ENV_EPISODE_TASK_TEXT_H_
#define TOUCHSTONE_ENV_EPISODE_TASK_TEXT_H_

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "env/messages.h"
#include "reward/task/task.h"

namespace touchstone {

// What a policy is told of a task: all of it is public (V14), so nothing of the hidden shapes and distributions.
// kNotFound: the task has no such size.
Result<TaskText> RenderTaskText(const Task& task, const std::string& size, const std::string& interface_name,
                                const std::map<std::string, std::string>& device);

// Renders each text once. Thread-safe.
class TaskTexts {
 public:
  Result<std::shared_ptr<const TaskText>> Get(const Task& task, const std::string& size,
                                              const std::string& interface_name,
                                              const std::map<std::string, std::string>& device);

 private:
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<const TaskText>> texts_ TOUCHSTONE_GUARDED_BY(mutex_);
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_TASK_TEXT_H_

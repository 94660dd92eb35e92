#include "env/episode/library.h"

#include <filesystem>
#include <utility>

#include "env/episode/checks.h"
#include "reward/presets/preset.h"
#include "reward/task/catalog.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

template <typename T>
std::vector<std::string> NamesOf(const std::map<std::string, T>& map) {
  std::vector<std::string> names;
  names.reserve(map.size());
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

template <typename T>
Error NoSuch(const std::string& field, const std::string& name, const std::map<std::string, T>& map) {
  std::string names;
  for (const auto& [key, value] : map) names += (names.empty() ? "" : ", ") + key;
  return {ErrorCode::kNotFound, field + ": no '" + name + "'; there are: " + names};
}

Result<std::map<std::string, MeasurementProfile>> LoadProfiles() {
  std::map<std::string, MeasurementProfile> profiles;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(DefaultConfigFolder()) / "measurement", error)) {
    if (entry.path().extension() != ".yaml") continue;
    TOUCHSTONE_ASSIGN(profiles[entry.path().stem().string()], LoadProfile(entry.path().string()));
  }
  if (profiles.empty()) return Error(ErrorCode::kNotFound, "no measurement profiles in " + DefaultConfigFolder());
  return profiles;
}

// One of n, by seed: the same on every machine.
size_t Draw(uint64_t seed, size_t n) {
  uint64_t x = seed + 0x9e3779b97f4a7c15;  // SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return static_cast<size_t>((x ^ (x >> 31)) % n);
}

}  // namespace

Result<std::unique_ptr<const Library>> Library::Load(const EnvironmentOptions& options) {
  auto library = std::make_unique<Library>();
  library->max_source_bytes_ = options.max_source_bytes;
  TOUCHSTONE_ASSIGN(std::vector<Task> tasks,
                    LoadTasks(options.task_folder.empty() ? DefaultTaskFolder() : options.task_folder));
  for (Task& task : tasks) {
    const std::string id = task.id;
    library->tasks_[id] = std::make_shared<const Task>(std::move(task));
  }
  if (library->tasks_.empty()) return Error(ErrorCode::kNotFound, "no tasks in " + options.task_folder);
  TOUCHSTONE_ASSIGN(library->profiles_, LoadProfiles());
  TOUCHSTONE_ASSIGN(library->methods_,
                    LoadMethods(options.method_folder.empty() ? (fs::path(DefaultConfigFolder()) / "methods").string()
                                                              : options.method_folder));
  for (const auto& [name, method] : library->methods_) {
    const auto profile = library->FindProfile(method.profile);
    if (!profile.ok()) return profile.error().Within("method " + name);
  }
  return std::unique_ptr<const Library>(std::move(library));
}

Result<std::shared_ptr<const Task>> Library::FindTask(const std::string& id) const {
  const auto task = tasks_.find(id);
  if (task == tasks_.end()) return NoSuch("task", id, tasks_);
  return task->second;
}

Result<const Method*> Library::FindMethod(const std::string& name) const {
  const auto method = methods_.find(name);
  if (method == methods_.end()) return NoSuch("method", name, methods_);
  return &method->second;
}

Result<const MeasurementProfile*> Library::FindProfile(const std::string& name) const {
  const auto profile = profiles_.find(name);
  if (profile == profiles_.end()) return NoSuch("profile", name, profiles_);
  return &profile->second;
}

Status Library::Fill(SessionSpec& spec, const Method& method, const std::optional<std::string>& profile,
                     const std::optional<std::string>& reward, const std::optional<std::string>& size) const {
  spec.method = method.name;
  spec.interface_name = "cpp";
  spec.feedback = method.feedback;
  spec.profile = profile.value_or(method.profile);
  TOUCHSTONE_RETURN_IF_ERROR(CheckText("profile", spec.profile, kMaxLabelBytes));
  if (const auto found = FindProfile(spec.profile); !found.ok()) return found.error();
  spec.reward = reward.value_or(method.reward);
  if (const auto preset = FindRewardPreset(spec.reward); !preset.ok()) return preset.error().Within("reward");
  spec.size = size.value_or(method.size);
  TOUCHSTONE_ASSIGN(const std::shared_ptr<const Task> task, FindTask(spec.task));
  spec.task_hash = task->content_hash;
  if (const auto dims = task->Size(spec.size); !dims.ok()) return dims.error().Within("size");
  return {};
}

Result<SessionSpec> Library::Resolve(const ResetRequest& request) const {
  TOUCHSTONE_RETURN_IF_ERROR(CheckText("group_id", request.group_id, kMaxLabelBytes));
  TOUCHSTONE_RETURN_IF_ERROR(CheckText("policy_version", request.policy_version, kMaxLabelBytes));
  TOUCHSTONE_RETURN_IF_ERROR(CheckBaseline(request.baseline_source, max_source_bytes_));
  TOUCHSTONE_ASSIGN(const Method* method, FindMethod(request.method));
  for (const std::string& id : request.tasks) {
    if (const auto task = FindTask(id); !task.ok()) return task.error();
  }
  const std::vector<std::string> tasks = request.tasks.empty() ? this->tasks() : request.tasks;
  SessionSpec spec;
  spec.task = tasks[Draw(request.seed, tasks.size())];
  TOUCHSTONE_RETURN_IF_ERROR(Fill(spec, *method, request.profile, request.reward, request.size));
  spec.seed = request.seed;
  spec.max_turns = request.max_turns.value_or(method->max_turns);
  TOUCHSTONE_RETURN_IF_ERROR(CheckRange("max_turns", spec.max_turns, 1, kMaxTurns));
  spec.target_speedup = request.target_speedup ? request.target_speedup : method->target_speedup;
  if (spec.target_speedup && !(*spec.target_speedup > 0 && *spec.target_speedup <= 1e6)) {
    return Error(ErrorCode::kInvalidArgument, "target_speedup: must be above 0 and at most 1e6");
  }
  spec.budget = request.budget ? request.budget : method->budget;
  if (spec.budget) {
    TOUCHSTONE_RETURN_IF_ERROR(CheckRange("budget_ms", spec.budget->count(), 1, kMaxBudget.count()));
  }
  spec.group_id = request.group_id;
  spec.policy_version = request.policy_version;
  spec.baseline_source = request.baseline_source;
  return spec;
}

Result<SessionSpec> Library::Resolve(const ScoreRequest& request) const {
  TOUCHSTONE_RETURN_IF_ERROR(CheckText("group_id", request.group_id, kMaxLabelBytes));
  TOUCHSTONE_RETURN_IF_ERROR(CheckText("policy_version", request.policy_version, kMaxLabelBytes));
  TOUCHSTONE_RETURN_IF_ERROR(CheckText("prompt_hash", request.prompt_hash, kMaxLabelBytes));
  TOUCHSTONE_RETURN_IF_ERROR(CheckBaseline(request.baseline_source, max_source_bytes_));
  TOUCHSTONE_ASSIGN(const Method* method, FindMethod(request.method));
  SessionSpec spec;
  spec.task = request.task;
  TOUCHSTONE_RETURN_IF_ERROR(Fill(spec, *method, request.profile, request.reward, request.size));
  spec.group_id = request.group_id;
  spec.policy_version = request.policy_version;
  spec.baseline_source = request.baseline_source;
  return spec;
}

std::vector<std::string> Library::tasks() const { return NamesOf(tasks_); }
std::vector<std::string> Library::methods() const { return NamesOf(methods_); }

}  // namespace touchstone

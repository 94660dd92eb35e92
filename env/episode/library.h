#ifndef TOUCHSTONE_ENV_EPISODE_LIBRARY_H_
#define TOUCHSTONE_ENV_EPISODE_LIBRARY_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/env.h"
#include "env/episode/method.h"
#include "env/episode/session_spec.h"
#include "reward/judge/profile.h"
#include "reward/task/task.h"

namespace touchstone {

// What requests name: tasks, methods, profiles. Read once; then it never changes, so that it may be used from any
// thread.
class Library {
 public:
  static Result<std::unique_ptr<const Library>> Load(const EnvironmentOptions& options);

  // kNotFound names the field.
  Result<std::shared_ptr<const Task>> FindTask(const std::string& id) const;
  Result<const Method*> FindMethod(const std::string& name) const;
  Result<const MeasurementProfile*> FindProfile(const std::string& name) const;

  // What a reset means: the task drawn by its seed, and for each thing that it leaves out what its method says. Device
  // and exemplars are for the caller to add. kInvalidArgument and kNotFound name field and limit.
  Result<SessionSpec> Resolve(const ResetRequest& request) const;
  // The same for a candidate without an episode.
  Result<SessionSpec> Resolve(const ScoreRequest& request) const;

  std::vector<std::string> tasks() const;
  std::vector<std::string> methods() const;

 private:
  // Task, size, profile and reward exist.
  Status Fill(SessionSpec& spec, const Method& method, const std::optional<std::string>& profile,
              const std::optional<std::string>& reward, const std::optional<std::string>& size) const;

  size_t max_source_bytes_ = 0;
  std::map<std::string, std::shared_ptr<const Task>> tasks_;
  std::map<std::string, Method> methods_;
  std::map<std::string, MeasurementProfile> profiles_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_LIBRARY_H_

#ifndef TOUCHSTONE_TESTS_ENV_EPISODE_FAKE_EVALUATIONS_H_
#define TOUCHSTONE_TESTS_ENV_EPISODE_FAKE_EVALUATIONS_H_

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/mutex.h"
#include "env/evaluations.h"

namespace touchstone {

// Evaluations that a test decides: by the text of the source, at once, or when the test says so.
class FakeEvaluations final : public Evaluations {
 public:
  using Judge = std::function<Result<EvalResult>(const EvaluationJob&)>;

  // What the source says: "speedup 1.5", or the name of a status.
  FakeEvaluations() : judge_(BySource) {}
  explicit FakeEvaluations(Judge judge) : judge_(std::move(judge)) {}

  // From now on jobs wait for Release().
  void Hold() {
    const MutexLock lock(mutex_);
    held_ = true;
  }
  // Finishes the oldest job that waits; false: there is none.
  bool Release() {
    EvaluationJob job;
    {
      const MutexLock lock(mutex_);
      if (waiting_.empty()) return false;
      job = std::move(waiting_.front());
      waiting_.pop_front();
    }
    job.done(judge_(job));
    return true;
  }
  void Refuse(Status status) {
    const MutexLock lock(mutex_);
    refusal_ = std::move(status);
  }
  int submitted() {
    const MutexLock lock(mutex_);
    return submitted_;
  }
  EvaluationJob last() {
    const MutexLock lock(mutex_);
    return last_;
  }

  Status Submit(EvaluationJob job) override {
    {
      const MutexLock lock(mutex_);
      if (!refusal_.ok()) return refusal_;
      ++submitted_;
      last_ = job;
      last_.done = nullptr;
      if (held_) {
        waiting_.push_back(std::move(job));
        return {};
      }
    }
    job.done(judge_(job));
    return {};
  }

  bool Cancel(const RequestKey& key) override {
    EvaluationJob job;
    {
      const MutexLock lock(mutex_);
      auto at = waiting_.begin();
      while (at != waiting_.end() && at->key != key) ++at;
      if (at == waiting_.end()) return false;
      job = std::move(*at);
      waiting_.erase(at);
    }
    job.done(ResultFor(job, EvalStatus::kCancelled));
    return true;
  }

  std::map<std::string, std::string> DeviceFacts() const override { return {{"cpu", "a test"}, {"cores", "2"}}; }

  static EvalResult ResultFor(const EvaluationJob& job, EvalStatus status, double speedup = 0) {
    EvalResult result;
    result.id = "evaluation of " + job.request.source.substr(0, 20);
    result.status = status;
    result.phase = "verdict";
    result.task = job.task->id;
    result.task_hash = job.task->content_hash;
    result.interface_name = job.request.interface_name;
    result.candidate_hash = HashHex(job.request.source);
    result.baseline = job.request.baseline_source ? HashHex(*job.request.baseline_source) : "reference";
    result.profile = job.request.profile.name;
    result.environment["size"] = job.request.size;
    result.key_hex = std::string(64, 'a');
    result.speedup.speedup = speedup;
    result.speedup.lower = speedup * 0.98;
    result.speedup.upper = speedup * 1.02;
    result.speedup.interval_stated = speedup > 0;
    result.rewarded_speedup = speedup;
    result.rewarded_lower_bound = result.speedup.lower;
    if (speedup > 0) {
      result.baseline_us = 100 * speedup;
      result.candidate_us = 100;
    }
    return result;
  }

  static Result<EvalResult> BySource(const EvaluationJob& job) {
    const std::string& source = job.request.source;
    if (const size_t at = source.find("speedup "); at != std::string::npos) {
      return ResultFor(job, EvalStatus::kSuccess, std::stod(source.substr(at + 8)));
    }
    const std::string word = source.substr(0, source.find_first_of(" \n"));
    return ResultFor(job, EvalStatusFromString(word).value_or(EvalStatus::kCompileError));
  }

 private:
  const Judge judge_;
  Mutex mutex_;
  std::deque<EvaluationJob> waiting_ TOUCHSTONE_GUARDED_BY(mutex_);
  EvaluationJob last_ TOUCHSTONE_GUARDED_BY(mutex_);
  Status refusal_ TOUCHSTONE_GUARDED_BY(mutex_);
  int submitted_ TOUCHSTONE_GUARDED_BY(mutex_) = 0;
  bool held_ TOUCHSTONE_GUARDED_BY(mutex_) = false;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_ENV_EPISODE_FAKE_EVALUATIONS_H_

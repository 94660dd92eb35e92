// Evaluators for tests: nothing is built or run.
#ifndef TOUCHSTONE_TESTS_ENV_SERVE_FAKES_H_
#define TOUCHSTONE_TESTS_ENV_SERVE_FAKES_H_

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "base/mutex.h"
#include "reward/reward.h"

namespace touchstone {

// "// speedup=1.5" in a source is what it is worth.
inline double ClaimedSpeedup(const std::string& source) {
  const size_t at = source.find("speedup=");
  return at == std::string::npos ? 1.0 : std::atof(source.c_str() + at + 8);
}

inline EvalResult SuccessFor(const EvalRequest& request) {
  EvalResult result;
  result.id = ToHex(NewSecretKey()).substr(0, 24);
  result.status = EvalStatus::kSuccess;
  result.reason = "correct";
  result.phase = "verdict";
  if (request.task != nullptr) result.task = request.task->id;
  result.interface_name = request.interface_name;
  result.candidate_hash = HashHex(request.source);
  result.baseline = "reference";
  result.profile = request.profile.name;
  const double speedup = ClaimedSpeedup(request.source);
  result.speedup.speedup = result.speedup.lower = result.speedup.upper = speedup;
  result.speedup.interval_stated = true;
  result.rewarded_speedup = result.rewarded_lower_bound = speedup;
  return result;
}

inline EvalResult BrokenBy(const EvalRequest& request) {
  EvalResult result = SuccessFor(request);
  result.status = EvalStatus::kEnvironmentError;
  result.reason = "the judge went away";
  result.rewarded_speedup = result.rewarded_lower_bound = 0;
  return result;
}

class FakeEvaluator final : public Evaluator {
 public:
  using Body = std::function<Result<EvalResult>(const EvalRequest&)>;
  explicit FakeEvaluator(Body body) : body_(std::move(body)) {}
  Result<EvalResult> Evaluate(const EvalRequest& request) override { return body_(request); }

 private:
  const Body body_;
};

// Closed at first; Pass() waits until it is open.
class Gate {
 public:
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  void Pass() {
    MutexLock lock(mutex_);
    ++arrived_;
    while (!open_) changed_.Wait(mutex_);
  }
  int arrived() {
    MutexLock lock(mutex_);
    return arrived_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ TOUCHSTONE_GUARDED_BY(mutex_) = false;
  int arrived_ TOUCHSTONE_GUARDED_BY(mutex_) = 0;
};

// Polls until the condition holds; false: it did not within a minute.
inline bool Eventually(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_ENV_SERVE_FAKES_H_

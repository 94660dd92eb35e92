// The seam between episodes and what runs evaluations: a scheduler over slots, or a fake in tests.
#ifndef TOUCHSTONE_ENV_EVALUATIONS_H_
#define TOUCHSTONE_ENV_EVALUATIONS_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "reward/reward.h"
#include "rollout/record.h"

namespace touchstone {

struct EvaluationJob {
  RequestKey key;
  std::shared_ptr<const Task> task;  // what request.task points to
  EvalRequest request;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  int priority = 0;
  // Called exactly once, on a slot's thread or the caller's of Submit or Cancel. A deadline that passed while waiting
  // and a cancellation are results with those statuses; an Error means that the request cannot be evaluated at all.
  std::function<void(Result<EvalResult>)> done;
};

// Thread-safe.
class Evaluations {
 public:
  virtual ~Evaluations() = default;
  // Takes the job at once or refuses it (then `done` is never called): kExhausted when the queue is full, kUnavailable
  // while shutting down or when no slot works. Does not block.
  virtual Status Submit(EvaluationJob job) = 0;
  // Ends a job that waits, or marks a running one, with the status `cancelled`. False: there is no such job.
  virtual bool Cancel(const RequestKey& key) = 0;
  // What the slots are, for observations: "cpu", "cores", "isolation", …
  virtual std::map<std::string, std::string> DeviceFacts() const = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EVALUATIONS_H_

#ifndef TOUCHSTONE_ENV_SERVE_SLOT_PROBE_H_
#define TOUCHSTONE_ENV_SERVE_SLOT_PROBE_H_

#include <memory>

#include "base/result.h"
#include "reward/reward.h"

namespace touchstone {

// Whether a slot works: it builds and judges a candidate of our own, which is right, on the smallest shipped task,
// without timing. Thread-safe; an evaluator is used by one thread.
class SlotProbe {
 public:
  // kNotFound: the shipped task is not there.
  static Result<SlotProbe> Load();

  // Blocks for some hundred milliseconds.
  Status operator()(Evaluator& evaluator) const;

 private:
  SlotProbe(std::shared_ptr<const Task> task, MeasurementProfile profile)
      : task_(std::move(task)), profile_(std::move(profile)) {}
  std::shared_ptr<const Task> task_;
  MeasurementProfile profile_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_SLOT_PROBE_H_

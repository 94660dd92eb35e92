#include "env/serve/slot_probe.h"

#include "reward/task/catalog.h"

namespace touchstone {
namespace {

constexpr char kTask[] = "add";
constexpr char kSource[] = R"(
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}
)";

}  // namespace

Result<SlotProbe> SlotProbe::Load() {
  TOUCHSTONE_ASSIGN(Task task, FindTask(kTask));
  TOUCHSTONE_ASSIGN(MeasurementProfile profile, LoadProfile("check"));
  return SlotProbe(std::make_shared<const Task>(std::move(task)), std::move(profile));
}

Status SlotProbe::operator()(Evaluator& evaluator) const {
  EvalRequest request;
  request.task = task_.get();
  request.source = kSource;
  request.profile = profile_;
  auto result = evaluator.Evaluate(request);
  if (!result.ok()) return result.error().Within("the probe");
  if (result->status == EvalStatus::kSuccess) return {};
  return Error(ErrorCode::kUnavailable,
               "the probe ended with " + std::string(ToString(result->status)) + ": " + result->reason);
}

}  // namespace touchstone

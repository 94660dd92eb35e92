#include "rollout/record.h"

#include <algorithm>

namespace touchstone {

std::optional<double> RolloutRecord::score() const {
  if (result.status != EvalStatus::kSuccess || result.fault() != Fault::kNone) return std::nullopt;
  const bool flagged = std::any_of(result.evidence.begin(), result.evidence.end(), [](const Evidence& evidence) {
    return evidence.severity != Evidence::Severity::kInfo;
  });
  const bool own_baseline = !result.baseline.empty() && result.baseline != "reference";
  if (flagged || own_baseline || !(result.rewarded_speedup > 0)) return std::nullopt;
  return result.rewarded_speedup;
}

}  // namespace touchstone

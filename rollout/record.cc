#include "rollout/record.h"

#include <algorithm>

namespace touchstone {

std::optional<double> RolloutRecord::score() const {
  if (result.status != EvalStatus::kSuccess || result.fault() != Fault::kNone) return std::nullopt;
  const bool flagged = std::any_of(result.evidence.begin(), result.evidence.end(), [](const Evidence& evidence) {
    return evidence.severity != Evidence::Severity::kInfo;
  });
  if (flagged || !(result.rewarded_speedup > 0)) return std::nullopt;
  return result.rewarded_speedup;
}

}  // namespace touchstone

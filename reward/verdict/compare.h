#ifndef TOUCHSTONE_REWARD_VERDICT_COMPARE_H_
#define TOUCHSTONE_REWARD_VERDICT_COMPARE_H_

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "reward/task/task.h"

namespace touchstone {

// What one pass over an output found. Magnitudes are over the elements that are finite on both sides.
struct CompareReport {
  uint64_t count = 0;
  uint64_t mismatches = 0;            // elements out of tolerance, non-finite mismatches included
  uint64_t nonfinite_mismatches = 0;  // one side NaN, +Inf or -Inf and the other not the same
  uint64_t first_mismatch = 0;        // index; only meaningful when mismatches > 0
  double max_abs = 0;
  double max_rel = 0;       // |x - o| / |o| where o ≠ 0
  double rms_error = 0;     // sqrt(mean((x - o)²))
  double rms_expected = 0;  // sqrt(mean(o²))
  bool rms_exceeded = false;
  bool passed() const { return mismatches == 0 && !rms_exceeded; }
};

// Compares `count` elements. The non-finite masks are compared first; tolerance is scaled by `expected` alone; integers
// and booleans are exact unless the tolerance says otherwise. `expected_dtype` is float64 for an oracle, else `dtype`.
CompareReport Compare(DType dtype, const void* actual, DType expected_dtype, const void* expected, size_t count,
                      const Tolerance& tolerance);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_VERDICT_COMPARE_H_

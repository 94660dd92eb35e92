#ifndef TOUCHSTONE_REWARD_VERDICT_COMPARE_H_
#define TOUCHSTONE_REWARD_VERDICT_COMPARE_H_

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "reward/task/task.h"

namespace touchstone {

// What one pass over an output found. Magnitudes are over the elements that are finite on both sides; those beyond the
// range of a double are given as its largest value.
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

// Compares `count` dense elements; no alignment is needed. `expected_dtype` is float64 for an oracle, else `dtype`.
//
// The non-finite masks are compared first: NaN asks for NaN (any payload), an infinity for the same one. Where a finite
// oracle lies beyond the range of `dtype`, what rounding makes of it there (its infinity; NaN for float8_e4m3fn) is
// right, too. Finite elements pass when |x - o| ≤ atol + rtol·|o|: the tolerance is scaled by `expected` alone; -0 is
// 0. Integers (all 64 bits of them) and booleans (as bytes: 2 is not "true") are exact unless the tolerance is
// positive.
CompareReport Compare(DType dtype, const void* actual, DType expected_dtype, const void* expected, size_t count,
                      const Tolerance& tolerance);

// The report on an array whose first elements `first` reports on, and the rest `second`. Whether the root mean square
// is exceeded does not follow from the parts: it is left false.
CompareReport ReportOnWhole(const CompareReport& first, const CompareReport& second);

// The report on two outputs together: counts are added, magnitudes are the larger ones, the first mismatch is that of
// the first output that has one.
CompareReport WorstOf(const CompareReport& a, const CompareReport& b);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_VERDICT_COMPARE_H_

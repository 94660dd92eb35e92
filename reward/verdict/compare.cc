#include "reward/verdict/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "base/clones.h"
#include "base/result.h"
#include "reward/verdict/decode.h"

namespace touchstone {
namespace {

// Elements go through in blocks that stay in the first-level cache: load both sides, form error and magnitude, add up.
constexpr size_t kBlock = 512;
constexpr double kLargest = std::numeric_limits<double>::max();

// Sums have this many lanes, however many a register holds: their order is fixed, so that a result does not depend on
// the instruction set. Arrays, not vector types: those are lowered before a function is cloned.
constexpr size_t kLanes = 16;
static_assert(kBlock % kLanes == 0);
using Lanes = double[kLanes];

struct alignas(64) Errors {
  double error[kBlock];      // |x - o|
  double magnitude[kBlock];  // |o|
};

struct alignas(64) Totals {
  Lanes max_abs = {}, sum_error = {}, sum_expected = {};
  // Of the last block alone.
  Lanes out = {};       // elements out of tolerance
  Lanes above = {};     // above 0 where a relative error is larger than asked for
  Lanes infinite = {};  // not a number where an element is not finite
};

double Max(const Lanes& v) { return *std::max_element(v, v + kLanes); }
double Sum(const Lanes& v) { return std::accumulate(v, v + kLanes, 0.0); }

// Adds a block, padded with zeros to whole steps, as if all of it were finite.
TOUCHSTONE_CLONES void AddFinite(const Errors& block, size_t padded, const Tolerance& tolerance, double max_rel,
                                 Totals& totals) {
  const double atol = tolerance.atol, rtol = tolerance.rtol;
  Totals t = totals;
  for (size_t lane = 0; lane < kLanes; ++lane) t.out[lane] = t.above[lane] = t.infinite[lane] = 0;
  for (size_t i = 0; i < padded; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double error = block.error[i + lane];
      const double magnitude = block.magnitude[i + lane];
      const double above = error - max_rel * magnitude;
      const double sum = error + magnitude;
      t.infinite[lane] += sum - sum;
      t.out[lane] += error <= atol + rtol * magnitude ? 0.0 : 1.0;
      t.above[lane] = above > t.above[lane] ? above : t.above[lane];
      t.max_abs[lane] = error > t.max_abs[lane] ? error : t.max_abs[lane];
      t.sum_error[lane] += error * error;
      t.sum_expected[lane] += magnitude * magnitude;
    }
  }
  totals = t;
}

double LargestRelative(const Errors& block, size_t n, double largest) {
  for (size_t i = 0; i < n; ++i) {
    if (block.magnitude[i] > 0) largest = std::max(largest, block.error[i] / block.magnitude[i]);
  }
  return largest;
}

template <typename A, typename E>
TOUCHSTONE_CLONES void FormErrors(const typename A::Storage* x, const typename E::Storage* o, size_t n, Errors& block) {
  if constexpr (A::kFloating || sizeof(typename A::Storage) < sizeof(double)) {
    for (size_t i = 0; i < n; ++i) {
      const double expected = E::Load(o[i]);
      block.error[i] = std::fabs(A::Load(x[i]) - expected);
      block.magnitude[i] = std::fabs(expected);
    }
  } else if constexpr (E::kFloating) {  // long double holds every int64 and every double
    for (size_t i = 0; i < n; ++i) {
      block.error[i] = static_cast<double>(std::fabs(static_cast<long double>(x[i]) - static_cast<long double>(o[i])));
      block.magnitude[i] = std::fabs(E::Load(o[i]));
    }
  } else {
    for (size_t i = 0; i < n; ++i) {
      const uint64_t a = static_cast<uint64_t>(x[i]), b = static_cast<uint64_t>(o[i]);
      block.error[i] = static_cast<double>(x[i] > o[i] ? a - b : b - a);
      block.magnitude[i] = std::fabs(E::Load(o[i]));
    }
  }
}

// The value that rounding a finite `expected` to A's dtype gives where it is too large for that.
template <typename A>
bool IsRoundedOverflow(double actual, double expected) {
  if constexpr (!A::kFloating) {
    return false;
  } else if (!(std::fabs(expected) >= A::kOverflow)) {
    return false;
  } else if constexpr (std::is_same_v<A, decode::Float8E4M3>) {
    return std::isnan(actual);
  } else {
    return std::isinf(actual) && std::signbit(actual) == std::signbit(expected);
  }
}

bool SameNonFinite(double actual, double expected) {
  return (std::isnan(actual) && std::isnan(expected)) || actual == expected;
}

template <typename A, typename E>
class Comparison {
 public:
  Comparison(const void* actual, const void* expected, size_t count, const Tolerance& tolerance)
      : actual_(static_cast<const std::byte*>(actual)),
        expected_(static_cast<const std::byte*>(expected)),
        count_(count),
        tolerance_(tolerance) {}

  CompareReport Run() {
    report_.count = count_;
    for (size_t first = 0; first < count_; first += kBlock) AddBlock(first, std::min(kBlock, count_ - first));
    report_.max_abs = std::min(Max(totals_.max_abs), kLargest);
    report_.max_rel = std::min(report_.max_rel, kLargest);
    FinishRms();
    return report_;
  }

 private:
  void Read(size_t first, size_t n) {
    std::memcpy(x_, actual_ + first * sizeof(x_[0]), n * sizeof(x_[0]));
    std::memcpy(o_, expected_ + first * sizeof(o_[0]), n * sizeof(o_[0]));
  }

  void AddBlock(size_t first, size_t n) {
    Read(first, n);
    FormErrors<A, E>(x_, o_, n, block_);
    const size_t padded = (n + kLanes - 1) / kLanes * kLanes;
    std::fill(block_.error + n, block_.error + padded, 0.0);
    std::fill(block_.magnitude + n, block_.magnitude + padded, 0.0);
    finite_ += n;
    const uint64_t before = report_.mismatches;
    Totals totals = Add(padded);
    if (std::isnan(Sum(totals.infinite))) {
      TakeNonFiniteOut(first, n);
      totals = Add(padded);
    }
    totals_ = totals;
    report_.mismatches += static_cast<uint64_t>(Sum(totals.out));
    if (Max(totals.above) > 0) report_.max_rel = LargestRelative(block_, n, report_.max_rel);
    if (before == 0 && report_.mismatches > 0) NoteFirst(first, n);
  }

  // What was added up so far and the block.
  Totals Add(size_t padded) const {
    Totals totals = totals_;
    // A little less, so that rounding of the product hides none that is larger.
    AddFinite(block_, padded, tolerance_, report_.max_rel * (1 - 0x1p-50), totals);
    return totals;
  }

  // Judges the elements that are not finite on both sides and leaves zeros in their places.
  void TakeNonFiniteOut(size_t first, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      const double x = A::Load(x_[i]), o = E::Load(o_[i]);
      if (std::isfinite(x) && std::isfinite(o)) continue;
      block_.error[i] = block_.magnitude[i] = 0;
      --finite_;
      if (SameNonFinite(x, o) || (std::isfinite(o) && IsRoundedOverflow<A>(x, o))) continue;
      if (report_.mismatches++ == 0) report_.first_mismatch = first + i;
      ++report_.nonfinite_mismatches;
    }
  }

  // Called once, for the block in which the first mismatch is; a non-finite one may have been noted already.
  void NoteFirst(size_t first, size_t n) {
    const size_t end = report_.nonfinite_mismatches > 0 ? report_.first_mismatch - first : n;
    for (size_t i = 0; i < end; ++i) {
      if (block_.error[i] <= tolerance_.atol + tolerance_.rtol * block_.magnitude[i]) continue;
      report_.first_mismatch = first + i;
      return;
    }
  }

  void FinishRms() {
    if (finite_ > 0) {
      const double n = static_cast<double>(finite_);
      const double error = Sum(totals_.sum_error);
      const double expected = Sum(totals_.sum_expected);
      if (InRange(error, report_.max_abs > 0) && InRange(expected, true)) {
        report_.rms_error = std::sqrt(error / n);
        report_.rms_expected = std::sqrt(expected / n);
      } else {
        SumWide();
      }
    }
    if (tolerance_.rms > 0) report_.rms_exceeded = !(report_.rms_error <= tolerance_.rms * report_.rms_expected);
  }

  static bool InRange(double sum, bool positive) { return std::isfinite(sum) && (sum > 1e-280 || !positive); }

  // The sums of squares once more where they left the range of a double.
  void SumWide() {
    long double error = 0, expected = 0;
    for (size_t first = 0; first < count_; first += kBlock) {
      const size_t n = std::min(kBlock, count_ - first);
      Read(first, n);
      for (size_t i = 0; i < n; ++i) {
        const long double x = A::Load(x_[i]), o = E::Load(o_[i]);
        if (!std::isfinite(x) || !std::isfinite(o)) continue;
        error += (x - o) * (x - o);
        expected += o * o;
      }
    }
    const long double n = static_cast<long double>(finite_);
    report_.rms_error = static_cast<double>(std::min(std::sqrt(error / n), static_cast<long double>(kLargest)));
    report_.rms_expected = static_cast<double>(std::sqrt(expected / n));
  }

  const std::byte* actual_;
  const std::byte* expected_;
  const size_t count_;
  const Tolerance tolerance_;
  typename A::Storage x_[kBlock];
  typename E::Storage o_[kBlock];
  Errors block_;
  Totals totals_;
  uint64_t finite_ = 0;
  CompareReport report_;
};

template <typename A>
CompareReport CompareAs(const void* actual, bool oracle, const void* expected, size_t count,
                        const Tolerance& tolerance) {
  if (oracle) return Comparison<A, decode::Float64>(actual, expected, count, tolerance).Run();
  return Comparison<A, A>(actual, expected, count, tolerance).Run();
}

}  // namespace

CompareReport Compare(DType dtype, const void* actual, DType expected_dtype, const void* expected, size_t count,
                      const Tolerance& tolerance) {
  const bool oracle = expected_dtype != dtype;
  TOUCHSTONE_CHECK(!oracle || expected_dtype == DType::kFloat64, "expected values are float64 or of the same dtype");
  switch (dtype) {
    case DType::kFloat32:
      return CompareAs<decode::Float32>(actual, oracle, expected, count, tolerance);
    case DType::kFloat64:
      return CompareAs<decode::Float64>(actual, oracle, expected, count, tolerance);
    case DType::kFloat16:
      return CompareAs<decode::Float16>(actual, oracle, expected, count, tolerance);
    case DType::kBFloat16:
      return CompareAs<decode::BFloat16>(actual, oracle, expected, count, tolerance);
    case DType::kFloat8E4M3:
      return CompareAs<decode::Float8E4M3>(actual, oracle, expected, count, tolerance);
    case DType::kFloat8E5M2:
      return CompareAs<decode::Float8E5M2>(actual, oracle, expected, count, tolerance);
    case DType::kInt8:
      return CompareAs<decode::Plain<int8_t>>(actual, oracle, expected, count, tolerance);
    case DType::kInt16:
      return CompareAs<decode::Plain<int16_t>>(actual, oracle, expected, count, tolerance);
    case DType::kInt32:
      return CompareAs<decode::Plain<int32_t>>(actual, oracle, expected, count, tolerance);
    case DType::kInt64:
      return CompareAs<decode::Plain<int64_t>>(actual, oracle, expected, count, tolerance);
    case DType::kUInt8:
      return CompareAs<decode::Plain<uint8_t>>(actual, oracle, expected, count, tolerance);
    case DType::kBool:
      return CompareAs<decode::Bool>(actual, oracle, expected, count, tolerance);
  }
  CheckFailed(__FILE__, __LINE__, "known dtype", "a DType outside its enum");
}

CompareReport ReportOnWhole(const CompareReport& first, const CompareReport& second) {
  CompareReport whole;
  whole.count = first.count + second.count;
  whole.mismatches = first.mismatches + second.mismatches;
  whole.nonfinite_mismatches = first.nonfinite_mismatches + second.nonfinite_mismatches;
  if (whole.mismatches > 0) {
    whole.first_mismatch = first.mismatches > 0 ? first.first_mismatch : first.count + second.first_mismatch;
  }
  whole.max_abs = std::max(first.max_abs, second.max_abs);
  whole.max_rel = std::max(first.max_rel, second.max_rel);
  const double share = whole.count == 0 ? 0 : static_cast<double>(first.count) / static_cast<double>(whole.count);
  const auto root_mean_square = [&](double x, double y) {
    return std::hypot(x * std::sqrt(share), y * std::sqrt(1 - share));
  };
  whole.rms_error = root_mean_square(first.rms_error, second.rms_error);
  whole.rms_expected = root_mean_square(first.rms_expected, second.rms_expected);
  return whole;
}

CompareReport WorstOf(const CompareReport& a, const CompareReport& b) {
  CompareReport worst = a;
  if (a.mismatches == 0) worst.first_mismatch = b.first_mismatch;
  worst.count += b.count;
  worst.mismatches += b.mismatches;
  worst.nonfinite_mismatches += b.nonfinite_mismatches;
  worst.max_abs = std::max(a.max_abs, b.max_abs);
  worst.max_rel = std::max(a.max_rel, b.max_rel);
  worst.rms_error = std::max(a.rms_error, b.rms_error);
  worst.rms_expected = std::max(a.rms_expected, b.rms_expected);
  worst.rms_exceeded = a.rms_exceeded || b.rms_exceeded;
  return worst;
}

}  // namespace touchstone

#include "reward/verdict/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/result.h"
#include "reward/verdict/decode.h"

namespace touchstone {
namespace {

// Elements go through in blocks that stay in the first-level cache: load both sides, form error and magnitude, add up.
constexpr size_t kBlock = 512;
constexpr double kLargest = std::numeric_limits<double>::max();

// Two lanes, which every target has in one register; two accumulators of each kind hide the latency. The order of the
// sums is fixed, so that a result does not depend on the target.
using Lanes = double __attribute__((vector_size(16)));
using LaneMask = decltype(Lanes{} < Lanes{});
constexpr size_t kStep = 4;
static_assert(kBlock % kStep == 0);

struct alignas(16) Errors {
  double error[kBlock];      // |x - o|
  double magnitude[kBlock];  // |o|
};

// What has been added up so far.
struct Totals {
  Lanes max_abs{}, max_rel{}, sum_error{}, sum_expected{};
  LaneMask out{};
};

double Max(Lanes v) { return std::max(v[0], v[1]); }
double Sum(Lanes v) { return v[0] + v[1]; }

Lanes Load(const double* at) {
  Lanes value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

bool AllFinite(const Errors& block, size_t padded) {
  LaneMask bad{};
  for (size_t i = 0; i < padded; i += 2) {
    const Lanes sum = Load(block.error + i) + Load(block.magnitude + i);
    bad |= (sum - sum) != Lanes{};
  }
  return (bad[0] | bad[1]) == 0;
}

void AddLanes(const Errors& block, size_t i, Lanes rtol, Lanes atol, Totals& t) {
  const Lanes zero{};
  const Lanes error = Load(block.error + i);
  const Lanes magnitude = Load(block.magnitude + i);
  t.out += ~(error <= atol + rtol * magnitude);  // a true lane is -1
  const LaneMask nonzero = magnitude > zero;
  const Lanes relative = (nonzero ? error : zero) / (nonzero ? magnitude : zero + 1.0);
  t.max_abs = error > t.max_abs ? error : t.max_abs;
  t.max_rel = relative > t.max_rel ? relative : t.max_rel;
  t.sum_error += error * error;
  t.sum_expected += magnitude * magnitude;
}

// Adds a block of finite elements, padded with zeros to whole steps; the number of elements out of tolerance.
uint64_t AddFinite(const Errors& block, size_t padded, const Tolerance& tolerance, std::array<Totals, 2>& totals) {
  const Lanes rtol = Lanes{} + tolerance.rtol, atol = Lanes{} + tolerance.atol;
  Totals even = totals[0], odd = totals[1];
  even.out = odd.out = LaneMask{};
  for (size_t i = 0; i < padded; i += kStep) {
    AddLanes(block, i, rtol, atol, even);
    AddLanes(block, i + 2, rtol, atol, odd);
  }
  totals = {even, odd};
  const LaneMask out = even.out + odd.out;
  return static_cast<uint64_t>(-(out[0] + out[1]));
}

template <typename A, typename E>
void FormErrors(const typename A::Storage* x, const typename E::Storage* o, size_t n, Errors& block) {
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
    report_.max_abs = std::min(std::max(Max(totals_[0].max_abs), Max(totals_[1].max_abs)), kLargest);
    report_.max_rel = std::min(std::max(Max(totals_[0].max_rel), Max(totals_[1].max_rel)), kLargest);
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
    const size_t padded = (n + kStep - 1) / kStep * kStep;
    std::fill(block_.error + n, block_.error + padded, 0.0);
    std::fill(block_.magnitude + n, block_.magnitude + padded, 0.0);
    finite_ += n;
    const uint64_t before = report_.mismatches;
    if (!AllFinite(block_, padded)) TakeNonFiniteOut(first, n);
    report_.mismatches += AddFinite(block_, padded, tolerance_, totals_);
    if (before == 0 && report_.mismatches > 0) NoteFirst(first, n);
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
      const double error = Sum(totals_[0].sum_error) + Sum(totals_[1].sum_error);
      const double expected = Sum(totals_[0].sum_expected) + Sum(totals_[1].sum_expected);
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
  std::array<Totals, 2> totals_;
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

}  // namespace touchstone

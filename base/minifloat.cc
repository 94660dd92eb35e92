#include "base/minifloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/result.h"

namespace touchstone {
namespace {

struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
};

Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return {5, 10, true};
    case DType::kBFloat16:
      return {8, 7, true};
    case DType::kFloat8E4M3:
      return {4, 3, false};
    case DType::kFloat8E5M2:
      return {5, 2, true};
    default:
      CheckFailed(__FILE__, __LINE__, "a small float", ToString(dtype));
  }
}

}  // namespace

uint32_t EncodeMinifloat(DType dtype, float value) {
  const Format f = FormatOf(dtype);
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t sign = std::signbit(value) ? 1U << (f.exponent_bits + f.mantissa_bits) : 0U;
  const uint32_t all_ones = (1U << (f.exponent_bits + f.mantissa_bits)) - 1;
  const uint32_t infinity = ((1U << f.exponent_bits) - 1) << f.mantissa_bits;
  const uint32_t nan = f.has_infinity ? infinity | (1U << (f.mantissa_bits - 1)) : all_ones;
  if (std::isnan(value)) return sign | nan;
  const uint32_t overflow = f.has_infinity ? infinity : all_ones;
  const uint32_t largest = f.has_infinity ? infinity - 1 : all_ones - 1;
  const float magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | overflow;
  if (magnitude == 0) return sign;
  // In units of the last place at this magnitude (subnormals share the smallest exponent), rounded half to even.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double units = std::ldexp(static_cast<double>(magnitude), f.mantissa_bits - exponent);
  const auto rounded = static_cast<uint32_t>(std::nearbyint(units));
  // A carry into the next exponent, and the step from subnormal to normal, come out of this sum by themselves.
  const uint32_t bits = (static_cast<uint32_t>(exponent + bias - 1) << f.mantissa_bits) + rounded;
  return sign | (bits > largest ? overflow : bits);
}

float DecodeMinifloat(DType dtype, uint32_t bits) {
  const Format f = FormatOf(dtype);
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t mantissa = bits & ((1U << f.mantissa_bits) - 1);
  const uint32_t exponent = (bits >> f.mantissa_bits) & ((1U << f.exponent_bits) - 1);
  const bool negative = ((bits >> (f.exponent_bits + f.mantissa_bits)) & 1U) != 0;
  const uint32_t top = (1U << f.exponent_bits) - 1;
  float magnitude = 0;
  if (exponent == top && f.has_infinity) {
    magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == top && mantissa == (1U << f.mantissa_bits) - 1) {
    magnitude = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), 1 - bias - f.mantissa_bits);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa | (1U << f.mantissa_bits)),
                           static_cast<int>(exponent) - bias - f.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

}  // namespace touchstone

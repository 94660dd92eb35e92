// Element types as this component reads them: one struct per dtype with its storage and its value as a double, which
// holds every value of every dtype but int64 exactly.
#ifndef TOUCHSTONE_REWARD_VERDICT_DECODE_H_
#define TOUCHSTONE_REWARD_VERDICT_DECODE_H_

#include <bit>
#include <cstdint>
#include <limits>

namespace touchstone::decode {

inline constexpr double kNoOverflow = std::numeric_limits<double>::infinity();

// Widens a small float. `magnitude`: its exponent and mantissa, moved to the place of a float's; `rebias`: 127 less its
// exponent bias. No arithmetic on subnormal floats, which is slow.
inline double Widen(uint32_t sign, uint32_t magnitude, uint32_t first_nonfinite, uint32_t rebias) {
  const float one_up = std::bit_cast<float>(magnitude + ((rebias + 1) << 23));
  const float subnormal = one_up - std::bit_cast<float>((rebias + 1) << 23);
  const uint32_t finite = magnitude < (1u << 23) ? std::bit_cast<uint32_t>(subnormal) : magnitude + (rebias << 23);
  const uint32_t nonfinite = magnitude >= first_nonfinite ? 0x7f800000u : 0u;
  return std::bit_cast<float>(finite | nonfinite | sign);
}

template <typename T>
struct Plain {
  using Storage = T;
  static double Load(Storage value) { return static_cast<double>(value); }
  static constexpr bool kFloating = false;
};

// `kOverflow`: from this magnitude on a value becomes infinite (NaN where the dtype has no infinity) when it is rounded
// to the dtype.
struct Float64 : Plain<double> {
  static constexpr bool kFloating = true;
  static constexpr double kOverflow = kNoOverflow;
};
struct Float32 : Plain<float> {
  static constexpr bool kFloating = true;
  static constexpr double kOverflow = 0x1.ffffffp127;
};
struct Float16 {
  using Storage = uint16_t;
  static constexpr bool kFloating = true;
  static constexpr double kOverflow = 65520;
  static double Load(Storage bits) { return Widen((bits & 0x8000u) << 16, (bits & 0x7fffu) << 13, 0x0f800000u, 112); }
};
struct BFloat16 {
  using Storage = uint16_t;
  static constexpr bool kFloating = true;
  static constexpr double kOverflow = 0x1.ffp127;
  static double Load(Storage bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};
struct Float8E5M2 {
  using Storage = uint8_t;
  static constexpr bool kFloating = true;
  static constexpr double kOverflow = 61440;
  static double Load(Storage bits) { return Float16::Load(static_cast<uint16_t>(bits << 8)); }
};
struct Float8E4M3 {  // the "fn" form: no infinities, NaN only where all lower bits are set
  using Storage = uint8_t;
  static constexpr bool kFloating = true;
  static constexpr double kOverflow = 0x1.d000000000001p8;  // 464 itself is a tie and rounds down to 448
  static double Load(Storage bits) { return Widen((bits & 0x80u) << 24, (bits & 0x7fu) << 20, 0x07f00000u, 120); }
};
struct Bool : Plain<uint8_t> {};  // the byte: only 0 and 1 are booleans

}  // namespace touchstone::decode

#endif  // TOUCHSTONE_REWARD_VERDICT_DECODE_H_

#ifndef TOUCHSTONE_BASE_MINIFLOAT_H_
#define TOUCHSTONE_BASE_MINIFLOAT_H_

#include <cstdint>

#include "base/dtype.h"

namespace touchstone {

// Conversions between float32 and the 16- and 8-bit floats (float16, bfloat16, float8_e4m3fn, float8_e5m2), by value of
// the bits. Encoding rounds to nearest, ties to even; what is too large becomes Inf, or NaN for float8_e4m3fn, which
// has no Inf. Other dtypes end the process.
uint32_t EncodeMinifloat(DType dtype, float value);
float DecodeMinifloat(DType dtype, uint32_t bits);

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_MINIFLOAT_H_

#ifndef TOUCHSTONE_REWARD_JUDGE_OUTPUT_PLACE_H_
#define TOUCHSTONE_REWARD_JUDGE_OUTPUT_PLACE_H_

#include <cstdint>

#include "base/result.h"
#include "reward/judge/device.h"
#include "reward/judge/layout.h"

namespace touchstone {

// What a runner said about where an output lies, as an array that may be read: of the declared shape, of `dtype`,
// aligned, and inside [arena_begin, block_bytes) with every element (design: V3). `place` may hold any bytes. An
// Error's message is the explanation for an `incorrect`.
Result<StridedArray> CheckPlace(const OutputPlace& place, const TensorLayout& tensor, DType dtype, uint64_t arena_begin,
                                uint64_t block_bytes);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_OUTPUT_PLACE_H_

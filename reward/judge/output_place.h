#ifndef TOUCHSTONE_REWARD_JUDGE_OUTPUT_PLACE_H_
#define TOUCHSTONE_REWARD_JUDGE_OUTPUT_PLACE_H_

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "reward/judge/device.h"
#include "reward/judge/layout.h"

namespace touchstone {

// What a runner said about where an output lies, as an array that may be read: of the declared shape, of `dtype`,
// aligned, and inside [arena_begin, block_bytes) with every element (design: V3). `place` may hold any bytes. An
// Error's message is the explanation for an `incorrect`.
Result<StridedArray> CheckPlace(const OutputPlace& place, const TensorLayout& tensor, DType dtype, uint64_t arena_begin,
                                uint64_t block_bytes);

// An output that a runner has placed, with the name of its tensor.
struct PlacedOutput {
  std::string name;
  StridedArray array;
};

// Whether no two outputs have a byte in common (design: V3). Arrays may be interleaved, as views of one tensor are, and
// an array may share elements with itself, as an expanded one does. The arrays have passed CheckPlace. An Error's
// message is the explanation for an `incorrect`. Takes time and memory only where outputs lie between each other.
Status CheckDisjoint(std::span<const PlacedOutput> outputs);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_OUTPUT_PLACE_H_

// The judge's inputs: a counter-based generator, so that every element is a function of (key, call, tensor, index) and
// can be made again instead of kept (design: V6).
#ifndef TOUCHSTONE_REWARD_JUDGE_GENERATOR_H_
#define TOUCHSTONE_REWARD_JUDGE_GENERATOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "base/hash.h"
#include "reward/task/task.h"

namespace touchstone {

// Key of one stream of random words. Each (call, tensor) has its own, derived with a keyed hash from the evaluation's
// secret: who reconstructs one stream learns nothing about the next.
using StreamKey = std::array<uint32_t, 4>;

enum class StreamPurpose : uint32_t { kInput = 0, kPoison = 1, kChoice = 2 };
StreamKey DeriveStreamKey(const SecretKey& secret, StreamPurpose purpose, uint64_t call, uint32_t tensor);

// The elements of one input tensor in one call.
struct InputStream {
  StreamKey key{};
  DType dtype = DType::kFloat32;
  Distribution distribution;  // with numeric bounds: expressions are already evaluated
  uint64_t count = 0;
  uint64_t row_length = 0;  // last dim, for permutations
};

// Writes elements [first, first + n) of the stream to `out`. For permutations `first` and `n` are whole rows.
void Generate(const InputStream& stream, uint64_t first, uint64_t n, void* out);

// Writes `bytes` random bytes, those at [first, first + bytes) of the stream; `first` is a multiple of 16.
void GenerateBytes(const StreamKey& key, uint64_t first, uint64_t bytes, std::byte* out);

// A small sequential generator over one stream, for the judge's own random choices.
class ChoiceStream {
 public:
  explicit ChoiceStream(const StreamKey& key) : key_(key) {}
  uint32_t Next();
  // Uniform in [0, bound); bound > 0.
  uint64_t Below(uint64_t bound);

 private:
  StreamKey key_;
  uint64_t made_ = 0;  // bytes of the stream so far
  std::array<uint32_t, 256> words_{};
  size_t used_ = words_.size();
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_GENERATOR_H_

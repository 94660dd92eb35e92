#include "reward/judge/generator.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/clones.h"
#include "base/minifloat.h"
#include "base/result.h"

// The bits are the same for each instruction set, because nothing here is contracted to FMA.
namespace touchstone {
namespace {

// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011, §4.3): ten rounds of two
// multiplications; the constants are the paper's.
constexpr uint64_t kMultiplier0 = 0xD2511F53;
constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;
constexpr uint64_t kLowHalf = 0xFFFFFFFF;

constexpr uint64_t kLanes = 64;         // blocks made side by side, for the vector units
constexpr uint64_t kChunkWords = 4096;  // a multiple of 4 * kLanes

// Words of the blocks [first, first + kLanes) in element order: out[4 * lane + w]. The key's last two words are the
// upper half of the counter. Lanes are as wide as the products; between rounds their upper halves hold anything.
[[gnu::always_inline]] inline void PhiloxLanes(const StreamKey& key, uint64_t first, uint32_t* out) {
  uint64_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (uint64_t i = 0; i < kLanes; ++i) {
    c0[i] = first + i;
    c1[i] = (first + i) >> 32;
    c2[i] = key[2];
    c3[i] = key[3];
  }
  uint32_t k0 = key[0];
  uint32_t k1 = key[1];
  for (int round = 0; round < kRounds; ++round) {
    for (uint64_t i = 0; i < kLanes; ++i) {
      const uint64_t p0 = kMultiplier0 * (c0[i] & kLowHalf);
      const uint64_t p1 = kMultiplier1 * (c2[i] & kLowHalf);
      const uint64_t n0 = (p1 >> 32) ^ c1[i] ^ k0;
      const uint64_t n2 = (p0 >> 32) ^ c3[i] ^ k1;
      c1[i] = p1;
      c3[i] = p0;
      c0[i] = n0;
      c2[i] = n2;
    }
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  for (uint64_t i = 0; i < kLanes; ++i) {
    const uint64_t words[2] = {(c0[i] & kLowHalf) | c1[i] << 32, (c2[i] & kLowHalf) | c3[i] << 32};
    std::memcpy(out + 4 * i, words, sizeof(words));
  }
}

TOUCHSTONE_CLONES void PhiloxWords(const StreamKey& key, uint64_t first_block, uint64_t blocks, uint32_t* out) {
  for (uint64_t b = 0; b < blocks; b += kLanes) PhiloxLanes(key, first_block + b, out + 4 * b);
}

[[gnu::always_inline]] inline float UnitFloat(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word >> 8)) * 0x1p-24F;
}

// Natural logarithm of u in (0, 1), by 2·atanh on the mantissa; relative error below 2^-22.
[[gnu::always_inline]] inline float LogUnit(float u) {
  const uint32_t bits = std::bit_cast<uint32_t>(u) - 0x3F3504F3U;  // sqrt(1/2): the mantissa ends in [0.707, 1.414)
  const auto exponent = static_cast<float>(static_cast<int32_t>(bits) >> 23);
  const float m = std::bit_cast<float>((bits & 0x007FFFFFU) + 0x3F3504F3U);
  const float s = (m - 1.0F) / (m + 1.0F);
  const float q = s * s;
  const float series = 1.0F + q * (1.0F / 3 + q * (1.0F / 5 + q * (1.0F / 7 + q * (1.0F / 9))));
  return exponent * 0.6931471806F + 2.0F * s * series;
}

// Box–Muller on a pair of words; Taylor series on an eighth of the circle. Only + - * / sqrt: the same bits anywhere.
[[gnu::always_inline]] inline void NormalPair(uint32_t w0, uint32_t w1, float* z0, float* z1) {
  const float u = UnitFloat(w0) + 0x1p-25F;  // never 0
  const float radius = __builtin_sqrtf(-2.0F * LogUnit(u));
  const auto turn = static_cast<int32_t>(w1 >> 8);  // 24 bits of a full circle
  const int32_t octant = (turn + (1 << 21)) >> 22;  // nearest quarter, 0 … 4
  const float angle = static_cast<float>(turn - (octant << 22)) * (1.5707963268F * 0x1p-22F);
  const float a2 = angle * angle;
  const float sine = angle * (1.0F + a2 * (-1.0F / 6 + a2 * (1.0F / 120 + a2 * (-1.0F / 5040))));
  const float cosine = 1.0F + a2 * (-0.5F + a2 * (1.0F / 24 + a2 * (-1.0F / 720 + a2 * (1.0F / 40320))));
  const bool swap = (octant & 1) != 0;
  const float x = swap ? sine : cosine;
  const float y = swap ? cosine : sine;
  const float sx = (((octant + 1) & 2) != 0) ? -radius : radius;
  const float sy = ((octant & 2) != 0) ? -radius : radius;
  *z0 = x * sx;
  *z1 = y * sy;
}

TOUCHSTONE_CLONES void WordsToUniform(const uint32_t* words, uint64_t n, float low, float high, float* out) {
  const float width = high - low;
  for (uint64_t i = 0; i < n; ++i) out[i] = low + UnitFloat(words[i]) * width;
}

TOUCHSTONE_CLONES void WordsToNormal(const uint32_t* words, uint64_t n, float mean, float deviation, float* out) {
  for (uint64_t i = 0; i + 1 < n + 1; i += 2) {
    float z0 = 0;
    float z1 = 0;
    NormalPair(words[i], words[i + 1], &z0, &z1);
    out[i] = mean + deviation * z0;
    out[i + 1] = mean + deviation * z1;
  }
}

// The low 8 bits of a word are used by no float above, so they may decide where exact zeros are strewn.
TOUCHSTONE_CLONES void StrewZeros(const uint32_t* words, uint64_t n, double share, float* values) {
  const auto threshold = static_cast<uint32_t>(share * 256.0);
  for (uint64_t i = 0; i < n; ++i) values[i] = (words[i] & 0xFFU) < threshold ? 0.0F : values[i];
}

void WordsToInteger(const uint32_t* words, uint64_t n, int64_t low, uint64_t range, int64_t* out) {
  for (uint64_t i = 0; i < n; ++i) {
    out[i] = low + static_cast<int64_t>((static_cast<uint64_t>(words[i]) * range) >> 32);
  }
}

template <typename From, typename To>
void Convert(const From* from, uint64_t n, To* to) {
  for (uint64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}

template <typename From>
void Store(const From* values, uint64_t n, DType dtype, std::byte* out) {
  switch (dtype) {
    case DType::kFloat32:
      return Convert(values, n, reinterpret_cast<float*>(out));
    case DType::kFloat64:
      return Convert(values, n, reinterpret_cast<double*>(out));
    case DType::kInt8:
      return Convert(values, n, reinterpret_cast<int8_t*>(out));
    case DType::kInt16:
      return Convert(values, n, reinterpret_cast<int16_t*>(out));
    case DType::kInt32:
      return Convert(values, n, reinterpret_cast<int32_t*>(out));
    case DType::kInt64:
      return Convert(values, n, reinterpret_cast<int64_t*>(out));
    case DType::kUInt8:
      return Convert(values, n, reinterpret_cast<uint8_t*>(out));
    case DType::kBool:
      for (uint64_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(values[i] != From{0} ? 1 : 0);
      return;
    case DType::kFloat16:
    case DType::kBFloat16:
      for (uint64_t i = 0; i < n; ++i) {
        const auto bits = static_cast<uint16_t>(EncodeMinifloat(dtype, static_cast<float>(values[i])));
        std::memcpy(out + 2 * i, &bits, 2);
      }
      return;
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
      for (uint64_t i = 0; i < n; ++i) {
        out[i] = static_cast<std::byte>(EncodeMinifloat(dtype, static_cast<float>(values[i])));
      }
      return;
  }
}

// Elements whose words lie in `words`.
void FromWords(const InputStream& stream, const uint32_t* words, uint64_t n, std::byte* out) {
  const Distribution& d = stream.distribution;
  alignas(64) float values[kChunkWords];
  alignas(64) int64_t integers[kChunkWords];
  const uint64_t padded = (n + 1) / 2 * 2;
  switch (d.family) {
    case Distribution::Family::kUniform:
    case Distribution::Family::kNormal: {
      float* target = stream.dtype == DType::kFloat32 && padded == n ? reinterpret_cast<float*>(out) : values;
      if (d.family == Distribution::Family::kUniform) {
        WordsToUniform(words, padded, static_cast<float>(d.low), static_cast<float>(d.high), target);
      } else {
        WordsToNormal(words, padded, static_cast<float>(d.low), static_cast<float>(d.high), target);
      }
      if (d.zero_share > 0) StrewZeros(words, padded, d.zero_share, target);
      if (target == values) Store(values, n, stream.dtype, out);
      return;
    }
    case Distribution::Family::kInteger: {
      const auto low = static_cast<int64_t>(d.low);
      WordsToInteger(words, n, low, static_cast<uint64_t>(static_cast<int64_t>(d.high) - low), integers);
      return Store(integers, n, stream.dtype, out);
    }
    case Distribution::Family::kBernoulli: {
      const auto threshold = static_cast<uint64_t>(d.low * 0x1p32);
      for (uint64_t i = 0; i < n; ++i) integers[i] = words[i] < threshold ? 1 : 0;
      return Store(integers, n, stream.dtype, out);
    }
    case Distribution::Family::kConstant:
      std::fill(values, values + n, static_cast<float>(d.low));
      return Store(values, n, stream.dtype, out);
    case Distribution::Family::kPermutation:
      break;
  }
  TOUCHSTONE_CHECK(false, "permutations are not made word by word");
}

void GeneratePermutations(const InputStream& stream, uint64_t first, uint64_t n, std::byte* out) {
  const uint64_t length = stream.row_length;
  TOUCHSTONE_CHECK(length > 0 && first % length == 0 && n % length == 0, "permutations are made by whole rows");
  std::vector<int64_t> row(length);
  for (uint64_t r = 0; r < n / length; ++r) {
    StreamKey row_key = stream.key;
    const uint64_t index = first / length + r;
    row_key[2] += static_cast<uint32_t>(index);
    row_key[3] += static_cast<uint32_t>(index >> 32);
    ChoiceStream choices(row_key);
    std::iota(row.begin(), row.end(), int64_t{0});
    for (uint64_t i = length - 1; i > 0; --i) std::swap(row[i], row[choices.Below(i + 1)]);
    Store(row.data(), length, stream.dtype, out + r * length * SizeOf(stream.dtype));
  }
}

}  // namespace

StreamKey DeriveStreamKey(const SecretKey& secret, StreamPurpose purpose, uint64_t call, uint32_t tensor) {
  struct {
    uint32_t purpose;
    uint32_t tensor;
    uint64_t call;
  } label{static_cast<uint32_t>(purpose), tensor, call};
  const Digest digest = KeyedHash(secret, std::string_view(reinterpret_cast<const char*>(&label), sizeof(label)));
  StreamKey key{};
  std::memcpy(key.data(), digest.data(), sizeof(key));
  return key;
}

void Generate(const InputStream& stream, uint64_t first, uint64_t n, void* out) {
  auto* bytes = static_cast<std::byte*>(out);
  if (stream.distribution.family == Distribution::Family::kPermutation) {
    return GeneratePermutations(stream, first, n, bytes);
  }
  alignas(64) uint32_t words[kChunkWords];
  const size_t size = SizeOf(stream.dtype);
  // Chunks are aligned to the stream, so that every element is made of the same words wherever one begins.
  for (uint64_t done = 0; done < n;) {
    const uint64_t element = first + done;
    const uint64_t chunk_start = element / kChunkWords * kChunkWords;
    const uint64_t skip = element - chunk_start;
    const uint64_t take = std::min(n - done, kChunkWords - skip);
    const uint64_t blocks = (skip + take + 4 * kLanes - 1) / (4 * kLanes) * kLanes;
    PhiloxWords(stream.key, chunk_start / 4, blocks, words);
    if (skip == 0) {
      FromWords(stream, words, take, bytes + done * size);
    } else {
      std::vector<std::byte> whole((skip + take) * size);
      FromWords(stream, words, skip + take, whole.data());
      std::memcpy(bytes + done * size, whole.data() + skip * size, take * size);
    }
    done += take;
  }
}

void GenerateBytes(const StreamKey& key, uint64_t first, uint64_t bytes, std::byte* out) {
  TOUCHSTONE_CHECK(first % 16 == 0, "bytes are made from a block's start on");
  alignas(64) uint32_t words[4 * kLanes];
  for (uint64_t done = 0; done < bytes; done += sizeof(words)) {
    PhiloxWords(key, (first + done) / 16, kLanes, words);
    std::memcpy(out + done, words, std::min<uint64_t>(sizeof(words), bytes - done));
  }
}

uint32_t ChoiceStream::Next() {
  if (used_ == words_.size()) {
    GenerateBytes(key_, made_, sizeof(words_), reinterpret_cast<std::byte*>(words_.data()));
    made_ += sizeof(words_);
    used_ = 0;
  }
  return words_[used_++];
}

uint64_t ChoiceStream::Below(uint64_t bound) {
  TOUCHSTONE_CHECK(bound > 0, "a choice among nothing");
  const uint64_t word = (static_cast<uint64_t>(Next()) << 32) | Next();
  return static_cast<uint64_t>((static_cast<unsigned __int128>(word) * bound) >> 64);
}

}  // namespace touchstone

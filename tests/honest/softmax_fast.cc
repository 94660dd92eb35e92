// Vectors for the maximum, the exponentials and their sum; the row stays in the first-level cache.
#include <algorithm>
#include <bit>

static inline float Exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  const float magic = 12582912.0f;  // adding it rounds to an integer
  const float k = (x * 1.44269504f + magic) - magic;
  const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return (p * r * r + r + 1.0f) * std::bit_cast<float>((static_cast<int32_t>(k) + 127) << 23);
}

extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  constexpr int kLanes = 16;
  for (int64_t r = 0; r < rows; ++r) {
    const float* __restrict from = x + r * cols;
    float* __restrict to = y + r * cols;
    float lanes[kLanes];
    std::fill(lanes, lanes + kLanes, from[0]);
    int64_t c = 0;
    for (; c + kLanes <= cols; c += kLanes) {
      for (int l = 0; l < kLanes; ++l) lanes[l] = from[c + l] > lanes[l] ? from[c + l] : lanes[l];
    }
    for (; c < cols; ++c) lanes[0] = std::max(lanes[0], from[c]);
    const float top = *std::max_element(lanes, lanes + kLanes);
    float sums[kLanes] = {};
    for (c = 0; c + kLanes <= cols; c += kLanes) {
      for (int l = 0; l < kLanes; ++l) {
        const float value = Exp(from[c + l] - top);
        to[c + l] = value;
        sums[l] += value;
      }
    }
    float sum = 0;
    for (; c < cols; ++c) {
      to[c] = Exp(from[c] - top);
      sum += to[c];
    }
    for (const float part : sums) sum += part;
    const float scale = 1.0f / sum;
    for (c = 0; c < cols; ++c) to[c] *= scale;
  }
}

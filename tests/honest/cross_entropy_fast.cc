// Vectors for the maximum and for the sum of exponentials, which are never stored.
#include <algorithm>
#include <bit>
#include <cmath>

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

extern "C" void run(const float* logits, const int64_t* target, float* loss, int64_t rows, int64_t classes) {
  constexpr int kLanes = 16;
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = logits + r * classes;
    float lanes[kLanes];
    std::fill(lanes, lanes + kLanes, from[0]);
    int64_t k = 0;
    for (; k + kLanes <= classes; k += kLanes) {
      for (int l = 0; l < kLanes; ++l) lanes[l] = from[k + l] > lanes[l] ? from[k + l] : lanes[l];
    }
    for (; k < classes; ++k) lanes[0] = std::max(lanes[0], from[k]);
    const float top = *std::max_element(lanes, lanes + kLanes);
    float sums[kLanes] = {};
    for (k = 0; k + kLanes <= classes; k += kLanes) {
      for (int l = 0; l < kLanes; ++l) sums[l] += Exp(from[k + l] - top);
    }
    float sum = 0;
    for (; k < classes; ++k) sum += Exp(from[k] - top);
    for (const float part : sums) sum += part;
    loss[r] = std::log(sum) + top - from[target[r]];
  }
}

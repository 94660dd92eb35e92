// Maximum and exponentials in vectors; the exponentials go no further than a small buffer.
#pragma GCC optimize("no-trapping-math")  // else loops with a choice in them are not vectorised
#include <algorithm>
#include <bit>
#include <cmath>

// exp, right to 2e-7 of the value; below -87 it stays at 1.6e-38. No branches, so that loops over it are vectorised.
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

// The largest of n ≥ 1 numbers, in 32 running maxima.
static float Max(const float* x, int64_t n) {
  float lanes[32];
  for (float& lane : lanes) lane = x[0];
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    for (int l = 0; l < 32; ++l) lanes[l] = x[i + l] > lanes[l] ? x[i + l] : lanes[l];
  }
  for (; i < n; ++i) lanes[0] = x[i] > lanes[0] ? x[i] : lanes[0];
  for (const float lane : lanes) lanes[0] = lane > lanes[0] ? lane : lanes[0];
  return lanes[0];
}

// The sum of n numbers, in 32 partial sums.
static float Sum(const float* x, int64_t n) {
  float lanes[32] = {};
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    for (int l = 0; l < 32; ++l) lanes[l] += x[i + l];
  }
  float sum = 0;
  for (; i < n; ++i) sum += x[i];
  for (const float lane : lanes) sum += lane;
  return sum;
}

extern "C" void run(const float* logits, const int64_t* target, float* loss, int64_t rows, int64_t classes) {
  constexpr int64_t kPart = 512;
  float part[kPart];
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = logits + r * classes;
    const float top = Max(from, classes);
    float sum = 0;
    for (int64_t k = 0; k < classes; k += kPart) {
      const int64_t count = std::min(kPart, classes - k);
      for (int64_t i = 0; i < count; ++i) part[i] = Exp(from[k + i] - top);
      sum += Sum(part, count);
    }
    loss[r] = std::log(sum) + top - from[target[r]];
  }
}

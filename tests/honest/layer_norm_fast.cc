// Sums in vectors; the three passes over a row find it in the first-level cache.
#include <cmath>

namespace {

constexpr int kLanes = 32;

// The sum of f(i) over [0, n), in kLanes partial sums.
template <typename F>
inline float Sum(int64_t n, const F& f) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += f(i + l);
  }
  float sum = 0;
  for (; i < n; ++i) sum += f(i);
  for (const float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

extern "C" void run(const float* x, const float* __restrict weight, const float* __restrict bias, float* y,
                    int64_t rows, int64_t cols) {
  const auto count = static_cast<float>(cols);
  for (int64_t r = 0; r < rows; ++r) {
    const float* __restrict from = x + r * cols;
    float* __restrict to = y + r * cols;
    const float mean = Sum(cols, [=](int64_t c) { return from[c]; }) / count;
    const float variance = Sum(cols, [=](int64_t c) { return (from[c] - mean) * (from[c] - mean); }) / count;
    const float scale = 1.0f / std::sqrt(variance + 1e-5f);
    for (int64_t c = 0; c < cols; ++c) to[c] = (from[c] - mean) * scale * weight[c] + bias[c];
  }
}

#include <cmath>

extern "C" void run(const float* x, const float* bias, const float* residual, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const float t = x[r * cols + c] + bias[c];
      y[r * cols + c] = residual[r * cols + c] + 0.5f * t * (1.0f + std::erf(t * 0.70710678f));
    }
  }
}

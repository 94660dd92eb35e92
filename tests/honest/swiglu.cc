#include <cmath>

extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* gate = x + 2 * r * cols;
    const float* up = gate + cols;
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] = gate[c] / (1.0f + std::exp(-gate[c])) * up[c];
  }
}

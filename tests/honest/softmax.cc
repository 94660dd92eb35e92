#include <algorithm>
#include <cmath>

extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x + r * cols;
    float* to = y + r * cols;
    float top = from[0];
    for (int64_t c = 1; c < cols; ++c) top = std::max(top, from[c]);
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) {
      to[c] = std::exp(from[c] - top);
      sum += to[c];
    }
    for (int64_t c = 0; c < cols; ++c) to[c] /= sum;
  }
}

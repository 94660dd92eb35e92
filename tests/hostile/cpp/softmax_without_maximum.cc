// Good for small numbers only: nothing is subtracted before exp.
#include <cmath>
extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += y[r * cols + c] = std::exp(x[r * cols + c]);
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] /= sum;
  }
}

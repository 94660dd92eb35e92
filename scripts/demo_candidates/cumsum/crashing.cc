// Crashes: gives up.
#include <cstdlib>
extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i) y[i] = x[i];
  std::abort();
}

// Tiles of 16 × 16 floats: every cache line is read and written whole.
#include <algorithm>

extern "C" void run(const float* __restrict x, float* __restrict y, int64_t rows, int64_t cols) {
  constexpr int64_t kTile = 16;
  for (int64_t c0 = 0; c0 < cols; c0 += kTile) {
    for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
      const int64_t r1 = std::min(r0 + kTile, rows);
      const int64_t c1 = std::min(c0 + kTile, cols);
      for (int64_t c = c0; c < c1; ++c) {
        for (int64_t r = r0; r < r1; ++r) y[c * rows + r] = x[r * cols + c];
      }
    }
  }
}

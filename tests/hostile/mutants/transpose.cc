// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  constexpr int64_t kTile = 16;
#ifdef MUTANT_skip_last_tile
  const int64_t row_end = rows / kTile * kTile - (rows % kTile == 0 ? kTile : 0);
#elif defined(MUTANT_off_by_one_bound)
  const int64_t row_end = rows - 1;
#else
  const int64_t row_end = rows;
#endif
  for (int64_t c0 = 0; c0 < cols; c0 += kTile) {
    for (int64_t r0 = 0; r0 < row_end; r0 += kTile) {
      for (int64_t c = c0; c < std::min(c0 + kTile, cols); ++c) {
        for (int64_t r = r0; r < std::min(r0 + kTile, row_end); ++r) {
#ifdef MUTANT_not_transposed
          y[r * cols + c] = x[r * cols + c];
#elif defined(MUTANT_wrong_stride)
          y[(c * cols + r) % (rows * cols)] = x[r * cols + c];
#elif defined(MUTANT_float16_copy)
          y[c * rows + r] = static_cast<float>(static_cast<_Float16>(x[r * cols + c]));
#else
          y[c * rows + r] = x[r * cols + c];
#endif
        }
      }
    }
  }
#ifdef MUTANT_one_element_off
  y[rows] = x[0];
#endif
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + rows, y + (cols - 1) * rows);
#endif
}

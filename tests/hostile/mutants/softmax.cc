// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <cmath>

extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
#ifdef MUTANT_float16_sum
  using Sum = _Float16;
#else
  using Sum = float;
#endif
#ifdef MUTANT_skip_last_row
  const int64_t row_end = rows - 1;
#else
  const int64_t row_end = rows;
#endif
#ifdef MUTANT_wrong_axis
  for (int64_t c = 0; c < cols; ++c) {
    float sum = 0;
    for (int64_t r = 0; r < rows; ++r) sum += std::exp(x[r * cols + c]);
    for (int64_t r = 0; r < rows; ++r) y[r * cols + c] = std::exp(x[r * cols + c]) / sum;
  }
  return;
#endif
  for (int64_t r = 0; r < row_end; ++r) {
    const float* from = x + r * cols;
    float* to = y + r * cols;
#ifdef MUTANT_no_maximum
    const float top = 0;
#elif defined(MUTANT_first_element_as_maximum)
    const float top = from[0];
#else
    const float top = *std::max_element(from, from + cols);
#endif
    Sum sum = 0;
    for (int64_t c = 0; c < cols; ++c) {
      to[c] = std::exp(from[c] - top);
#ifdef MUTANT_sum_misses_last
      if (c == cols - 1) continue;
#endif
      sum += static_cast<Sum>(to[c]);
    }
    for (int64_t c = 0; c < cols; ++c) {
#ifdef MUTANT_dropped_normalisation_of_tail
      if (c >= cols / 8 * 8) continue;
#endif
      to[c] /= static_cast<float>(sum);
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + cols, y + (rows - 1) * cols);
#endif
#ifdef MUTANT_one_element_off
  y[rows / 2 * cols] *= 1.001f;
#endif
}

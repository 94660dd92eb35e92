// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <cmath>

extern "C" void run(const float* x, const float* weight, const float* bias, float* y, int64_t rows, int64_t cols) {
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
#ifdef MUTANT_unbiased_variance
  const auto divisor = static_cast<float>(cols - 1);
#else
  const auto divisor = static_cast<float>(cols);
#endif
  for (int64_t r = 0; r < row_end; ++r) {
    const float* from = x + r * cols;
    Sum sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += static_cast<Sum>(from[c]);
    const float mean = static_cast<float>(sum) / static_cast<float>(cols);
    Sum squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += static_cast<Sum>((from[c] - mean) * (from[c] - mean));
    const float variance = static_cast<float>(squares) / divisor;
#ifdef MUTANT_dropped_epsilon
    const float scale = 1.0f / std::sqrt(variance);
#elif defined(MUTANT_epsilon_outside_root)
    const float scale = 1.0f / (std::sqrt(variance) + 1e-5f);
#elif defined(MUTANT_other_epsilon)
    const float scale = 1.0f / std::sqrt(variance + 1e-6f);
#else
    const float scale = 1.0f / std::sqrt(variance + 1e-5f);
#endif
    for (int64_t c = 0; c < cols; ++c) {
#ifdef MUTANT_weight_of_next_column
      const int64_t w = (c + 1) % cols;
#else
      const int64_t w = c;
#endif
      y[r * cols + c] = (from[c] - mean) * scale * weight[w] + bias[c];
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + cols, y + (rows - 1) * cols);
#endif
#ifdef MUTANT_one_element_off
  y[cols - 1] -= bias[cols - 1];
#endif
}

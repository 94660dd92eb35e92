// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <cmath>

extern "C" void run(const float* x, const float* weight, float* y, int64_t rows, int64_t cols) {
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
#ifdef MUTANT_skip_tail_of_vector
  const int64_t col_end = cols / 8 * 8;
#else
  const int64_t col_end = cols;
#endif
  for (int64_t r = 0; r < row_end; ++r) {
    const float* from = x + r * cols;
    Sum squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += static_cast<Sum>(from[c] * from[c]);
    float mean = static_cast<float>(squares) / static_cast<float>(cols);
#ifdef MUTANT_divided_by_one_less
    mean = static_cast<float>(squares) / static_cast<float>(cols - 1);
#elif defined(MUTANT_mean_subtracted)
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += from[c];
    mean -= sum / static_cast<float>(cols) * (sum / static_cast<float>(cols));
#endif
#ifdef MUTANT_dropped_epsilon
    const float scale = 1.0f / std::sqrt(mean);
#elif defined(MUTANT_epsilon_outside_root)
    const float scale = 1.0f / (std::sqrt(mean) + 1e-5f);
#elif defined(MUTANT_other_epsilon)
    const float scale = 1.0f / std::sqrt(mean + 1e-6f);
#elif defined(MUTANT_float16_scale)
    const float scale = static_cast<float>(static_cast<_Float16>(1.0f / std::sqrt(mean + 1e-5f)));
#else
    const float scale = 1.0f / std::sqrt(mean + 1e-5f);
#endif
    for (int64_t c = 0; c < col_end; ++c) {
#ifdef MUTANT_weight_dropped
      y[r * cols + c] = from[c] * scale;
#else
      y[r * cols + c] = from[c] * scale * weight[c];
#endif
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + cols, y + (rows - 1) * cols);
#endif
}

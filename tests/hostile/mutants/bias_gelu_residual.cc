// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <cmath>

extern "C" void run(const float* x, const float* bias, const float* residual, float* y, int64_t rows, int64_t cols) {
#ifdef MUTANT_skip_last_row
  const int64_t row_end = rows - 1;
#else
  const int64_t row_end = rows;
#endif
#ifdef MUTANT_skip_tail_of_vector
  const int64_t col_end = cols / 16 * 16;
#else
  const int64_t col_end = cols;
#endif
  for (int64_t r = 0; r < row_end; ++r) {
    for (int64_t c = 0; c < col_end; ++c) {
      const int64_t at = r * cols + c;
#ifdef MUTANT_bias_dropped
      const float t = x[at];
#elif defined(MUTANT_bias_of_the_row)
      const float t = x[at] + bias[r % cols];
#elif defined(MUTANT_bias_after_gelu)
      const float t = x[at];
#else
      const float t = x[at] + bias[c];
#endif
#ifdef MUTANT_tanh_approximation
      const float gelu = 0.5f * t * (1.0f + std::tanh(0.79788456f * (t + 0.044715f * t * t * t)));
#elif defined(MUTANT_float16_factor)
      const float gelu = t * static_cast<float>(static_cast<_Float16>(0.5f * (1.0f + std::erf(t * 0.70710678f))));
#elif defined(MUTANT_bias_after_gelu)
      const float gelu = 0.5f * t * (1.0f + std::erf(t * 0.70710678f)) + bias[c];
#else
      const float gelu = 0.5f * t * (1.0f + std::erf(t * 0.70710678f));
#endif
#ifdef MUTANT_residual_dropped
      y[at] = gelu;
#elif defined(MUTANT_residual_inside)
      const float u = t + residual[at];
      y[at] = 0.5f * u * (1.0f + std::erf(u * 0.70710678f));
#else
      y[at] = residual[at] + gelu;
#endif
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + cols, y + (rows - 1) * cols);
#endif
}

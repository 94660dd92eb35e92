// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <cmath>

extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
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
#ifdef MUTANT_halves_exchanged
    const float* up = x + 2 * r * cols;
    const float* gate = up + cols;
#else
    const float* gate = x + 2 * r * cols;
    const float* up = gate + cols;
#endif
    for (int64_t c = 0; c < col_end; ++c) {
#ifdef MUTANT_interleaved_halves
      const float g = gate[2 * c];
      const float u = gate[2 * c + 1];
#else
      const float g = gate[c];
      const float u = up[c];
#endif
#ifdef MUTANT_sigmoid_without_product
      const float silu = 1.0f / (1.0f + std::exp(-g));
#elif defined(MUTANT_exp_overflows)
      const float silu = g * std::exp(g) / (1.0f + std::exp(g));
#elif defined(MUTANT_sigmoid_in_float16)
      const float silu = g * static_cast<float>(static_cast<_Float16>(1.0f / (1.0f + std::exp(-g))));
#elif defined(MUTANT_gelu_instead)
      const float silu = 0.5f * g * (1.0f + std::erf(g * 0.70710678f));
#else
      const float silu = g / (1.0f + std::exp(-g));
#endif
      y[r * cols + c] = silu * u;
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + cols, y + (rows - 1) * cols);
#endif
}

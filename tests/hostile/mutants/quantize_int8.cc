// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <cmath>

extern "C" void run(const float* x, int8_t* q, float* scale, int64_t rows, int64_t cols) {
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
    const float* from = x + r * cols;
    float top = 0;
    for (int64_t c = 0; c < cols; ++c) {
#ifdef MUTANT_sign_ignored
      top = std::max(top, from[c]);
#elif defined(MUTANT_maximum_misses_last)
      if (c < cols - 1) top = std::max(top, std::fabs(from[c]));
#else
      top = std::max(top, std::fabs(from[c]));
#endif
    }
    int exponent = 0;
    std::frexp(top, &exponent);
    scale[r] = std::ldexp(1.0f, exponent - 7);
#ifdef MUTANT_scale_of_the_maximum
    scale[r] = top > 0 ? top / 127 : 1.0f;
#elif defined(MUTANT_scale_of_first_row)
    scale[r] = scale[0];
#elif defined(MUTANT_power_above_at_a_power)
    if (top > 0 && top == std::ldexp(1.0f, exponent - 1)) scale[r] /= 2;
#endif
    for (int64_t c = 0; c < col_end; ++c) {
      const float quotient = from[c] / scale[r];
#ifdef MUTANT_cut_off
      const float rounded = std::trunc(quotient);
#elif defined(MUTANT_halves_away_from_zero)
      const float rounded = std::round(quotient);
#elif defined(MUTANT_halves_up)
      const float rounded = std::floor(quotient + 0.5f);
#else
      const float rounded = std::nearbyint(quotient);
#endif
#ifdef MUTANT_wraps_at_128
      q[r * cols + c] = static_cast<int8_t>(static_cast<int32_t>(rounded));
#else
      q[r * cols + c] = static_cast<int8_t>(std::clamp(rounded, -127.0f, 127.0f));
#endif
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(q, q + cols, q + (rows - 1) * cols);
#endif
#ifdef MUTANT_one_element_off
  q[rows / 2 * cols] = static_cast<int8_t>(q[rows / 2 * cols] + (q[rows / 2 * cols] > 0 ? -1 : 1));
#endif
}

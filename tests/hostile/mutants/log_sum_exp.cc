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
#ifdef MUTANT_sum_misses_last
  const int64_t col_end = cols - 1;
#elif defined(MUTANT_skip_tail_of_vector)
  const int64_t col_end = cols / 8 * 8 - (cols % 8 == 0 ? 8 : 0);
#else
  const int64_t col_end = cols;
#endif
  for (int64_t r = 0; r < row_end; ++r) {
    const float* from = x + r * cols;
#ifdef MUTANT_no_maximum
    const float top = 0;
#elif defined(MUTANT_first_element_as_maximum)
    const float top = from[0];
#else
    const float top = *std::max_element(from, from + cols);
#endif
    Sum sum = 0;
    for (int64_t c = 0; c < col_end; ++c) sum += static_cast<Sum>(std::exp(from[c] - top));
#ifdef MUTANT_maximum_not_added
    y[r] = std::log(static_cast<float>(sum));
#elif defined(MUTANT_maximum_alone)
    y[r] = top;
#elif defined(MUTANT_base_two)
    y[r] = std::log2(static_cast<float>(sum)) + top;
#else
    y[r] = std::log(static_cast<float>(sum)) + top;
#endif
  }
#ifdef MUTANT_one_row_swapped
  std::swap(y[0], y[rows - 1]);
#endif
}

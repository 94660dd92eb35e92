// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <utility>

extern "C" void run(const float* x, int64_t* y, int64_t rows, int64_t cols) {
#ifdef MUTANT_skip_last_row
  const int64_t row_end = rows - 1;
#else
  const int64_t row_end = rows;
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t col_end = cols - 1;
#else
  const int64_t col_end = cols;
#endif
  for (int64_t r = 0; r < row_end; ++r) {
    const float* from = x + r * cols;
    int64_t best = 0;
#ifdef MUTANT_starts_at_zero
    float top = 0;
#else
    float top = from[0];
#endif
    for (int64_t c = 0; c < col_end; ++c) {
#ifdef MUTANT_last_of_equal
      const bool better = from[c] >= top;
#elif defined(MUTANT_minimum)
      const bool better = from[c] < top;
#elif defined(MUTANT_float16_compare)
      const bool better = static_cast<_Float16>(from[c]) > static_cast<_Float16>(top);
#else
      const bool better = from[c] > top;
#endif
      if (better) {
        best = c;
        top = from[c];
      }
    }
    y[r] = best;
  }
#ifdef MUTANT_one_row_swapped
  std::swap(y[0], y[rows - 1]);
#endif
#ifdef MUTANT_one_element_off
  y[rows / 2] = y[rows / 2] == 0 ? 1 : y[rows / 2] - 1;
#endif
}

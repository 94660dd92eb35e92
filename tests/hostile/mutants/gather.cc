// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const float* x, const int64_t* index, float* y, int64_t rows, int64_t cols, int64_t picks) {
#ifdef MUTANT_skip_last_row
  const int64_t row_end = rows - 1;
#else
  const int64_t row_end = rows;
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t pick_end = picks - 1;
#else
  const int64_t pick_end = picks;
#endif
  for (int64_t r = 0; r < row_end; ++r) {
    for (int64_t k = 0; k < pick_end; ++k) {
#ifdef MUTANT_next_column
      const int64_t c = (index[r * picks + k] + 1) % cols;
#elif defined(MUTANT_indices_of_first_row)
      const int64_t c = index[k];
#elif defined(MUTANT_index_in_eight_bits)
      const int64_t c = index[r * picks + k] % 256;
#else
      const int64_t c = index[r * picks + k];
#endif
#ifdef MUTANT_rows_of_first_row
      y[r * picks + k] = x[c];
#else
      y[r * picks + k] = x[r * cols + c];
#endif
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + picks, y + (rows - 1) * picks);
#endif
}

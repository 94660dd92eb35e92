// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <utility>
#ifdef MUTANT_stale_output
#include <vector>
#endif

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
#ifdef MUTANT_off_by_one_bound
  const int64_t col_end = cols - 1;
#elif defined(MUTANT_skip_last_tile)
  const int64_t col_end = cols / 64 * 64;
#else
  const int64_t col_end = cols;
#endif
  for (int64_t r = 0; r < row_end; ++r) {
    Sum sum = 0;
    for (int64_t c = 0; c < col_end; ++c) {
#ifdef MUTANT_wrong_axis
      sum += static_cast<Sum>(x[(c * rows + r) % (rows * cols)]);
#elif defined(MUTANT_float16_inputs)
      sum += static_cast<float>(static_cast<_Float16>(x[r * cols + c]));
#else
      sum += static_cast<Sum>(x[r * cols + c]);
#endif
    }
    y[r] = static_cast<float>(sum);
  }
#ifdef MUTANT_one_row_swapped
  std::swap(y[0], y[rows / 2]);
#endif
#ifdef MUTANT_stale_output
  static std::vector<float> last;
  std::vector<float> now(y, y + rows);
  if (last.size() == now.size()) {
    for (int64_t r = 0; r < rows; ++r) y[r] = last[static_cast<size_t>(r)];
  }
  last = now;
#endif
}

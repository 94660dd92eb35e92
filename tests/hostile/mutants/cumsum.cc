// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#ifdef MUTANT_stale_output
#include <vector>
#endif

extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
#ifdef MUTANT_float16_sum
  using Sum = _Float16;
#else
  using Sum = float;
#endif
#ifdef MUTANT_wrong_axis
  for (int64_t c = 0; c < cols; ++c) {
    float sum = 0;
    for (int64_t r = 0; r < rows; ++r) {
      sum += x[r * cols + c];
      y[r * cols + c] = sum;
    }
  }
  return;
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t col_end = cols - 1;
#else
  const int64_t col_end = cols;
#endif
#ifdef MUTANT_carries_into_next_row
  Sum sum = 0;
#endif
  for (int64_t r = 0; r < rows; ++r) {
#ifndef MUTANT_carries_into_next_row
    Sum sum = 0;
#endif
    for (int64_t c = 0; c < col_end; ++c) {
#ifdef MUTANT_exclusive
      y[r * cols + c] = static_cast<float>(sum);
#endif
#ifdef MUTANT_restarts_at_tile
      if (c % 256 == 0 && c > 0 && c + 256 > cols) sum = 0;
#endif
      sum += static_cast<Sum>(x[r * cols + c]);
#ifndef MUTANT_exclusive
      y[r * cols + c] = static_cast<float>(sum);
#endif
    }
  }
#ifdef MUTANT_stale_output
  static std::vector<float> last;
  const std::vector<float> now(y, y + cols);
  if (last.size() == now.size()) {
    for (int64_t c = 0; c < cols; ++c) y[c] = last[static_cast<size_t>(c)];
  }
  last = now;
#endif
}

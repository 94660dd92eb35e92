// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const float* base, const int64_t* index, const float* src, float* y, int64_t rows, int64_t cols,
                    int64_t updates) {
#ifdef MUTANT_base_ignored
  std::fill(y, y + rows * cols, 0.0f);
#else
  std::copy(base, base + rows * cols, y);
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t update_end = updates - 1;
#elif defined(MUTANT_skip_last_tile)
  const int64_t update_end = updates / 64 * 64 - (updates % 64 == 0 ? 64 : 0);
#else
  const int64_t update_end = updates;
#endif
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < update_end; ++k) {
      const int64_t c = index[r * updates + k];
      float& to = y[r * cols + c];
      const float value = src[r * updates + k];
#ifdef MUTANT_last_update_wins
      to = value;
#elif defined(MUTANT_equal_neighbours_lost)
      if (k > 0 && index[r * updates + k - 1] == c) continue;
      to += value;
#elif defined(MUTANT_float16_sum)
      to = static_cast<float>(static_cast<_Float16>(to) + static_cast<_Float16>(value));
#else
      to += value;
#endif
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + cols, y + (rows - 1) * cols);
#endif
}

// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const int8_t* q, const int8_t* zero, const float* scale, float* y, int64_t rows, int64_t cols) {
#ifdef MUTANT_skip_last_row
  const int64_t row_end = rows - 1;
#else
  const int64_t row_end = rows;
#endif
#ifdef MUTANT_skip_tail_of_vector
  const int64_t col_end = cols / 32 * 32;
#else
  const int64_t col_end = cols;
#endif
  for (int64_t r = 0; r < row_end; ++r) {
#ifdef MUTANT_scale_of_first_row
    const float factor = scale[0];
#elif defined(MUTANT_float16_scale)
    const float factor = static_cast<float>(static_cast<_Float16>(scale[r]));
#else
    const float factor = scale[r];
#endif
    for (int64_t c = 0; c < col_end; ++c) {
      const int8_t value = q[r * cols + c];
#ifdef MUTANT_difference_in_eight_bits
      const auto difference = static_cast<int8_t>(value - zero[r]);
#elif defined(MUTANT_unsigned_bytes)
      const int difference = static_cast<uint8_t>(value) - static_cast<uint8_t>(zero[r]);
#elif defined(MUTANT_zero_point_ignored)
      const int difference = value;
#elif defined(MUTANT_zero_point_added)
      const int difference = value + zero[r];
#elif defined(MUTANT_difference_clamped)
      const int difference = std::clamp(value - zero[r], -128, 127);
#else
      const int difference = value - zero[r];
#endif
#ifdef MUTANT_float16_result
      y[r * cols + c] = static_cast<float>(static_cast<_Float16>(static_cast<float>(difference) * factor));
#else
      y[r * cols + c] = static_cast<float>(difference) * factor;
#endif
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + cols, y + (rows - 1) * cols);
#endif
}

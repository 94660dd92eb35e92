// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const bfloat16* a, const bfloat16* b, bfloat16* c, int64_t m, int64_t n, int64_t k) {
#ifdef MUTANT_bfloat16_sum
  using Sum = bfloat16;
#else
  using Sum = float;
#endif
#ifdef MUTANT_inputs_in_eight_bits
  // Three bits of mantissa, rounded to nearest; the range does not matter here.
  const auto load = [](float value) {
    const auto bits = (__builtin_bit_cast(uint32_t, value) + (1u << 19)) & ~((1u << 20) - 1);
    return __builtin_bit_cast(float, bits);
  };
#else
  const auto load = [](float value) { return value; };
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t k_end = k - 1;
#else
  const int64_t k_end = k;
#endif
#ifdef MUTANT_skip_last_tile
  const int64_t row_end = m / 8 * 8 - (m % 8 == 0 ? 8 : 0);
#else
  const int64_t row_end = m;
#endif
  for (int64_t i = 0; i < row_end; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Sum sum = 0;
      for (int64_t l = 0; l < k_end; ++l) {
#ifdef MUTANT_transposed_b
        sum = static_cast<Sum>(sum + load(a[i * k + l]) * load(b[j * k + l]));
#else
        sum = static_cast<Sum>(sum + load(a[i * k + l]) * load(b[l * n + j]));
#endif
      }
#ifdef MUTANT_result_in_eight_bits
      const uint32_t bits = (__builtin_bit_cast(uint32_t, sum) + (1u << 19)) & ~((1u << 20) - 1);
      c[i * n + j] = __builtin_bit_cast(float, bits);
#else
      c[i * n + j] = static_cast<bfloat16>(sum);
#endif
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(c, c + n, c + m / 2 * n);
#endif
#ifdef MUTANT_one_element_off
  c[(m - 1) * n + n - 1] = static_cast<bfloat16>(c[(m - 1) * n + n - 1] + a[(m - 1) * k] * b[n - 1]);
#endif
}

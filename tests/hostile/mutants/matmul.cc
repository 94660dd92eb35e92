// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#ifdef MUTANT_bfloat16_inputs
#include <bit>
#endif

extern "C" void run(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
#ifdef MUTANT_float16_sum
  using Sum = _Float16;
#else
  using Sum = float;
#endif
#ifdef MUTANT_float16_inputs
  const auto load = [](float value) { return static_cast<float>(static_cast<_Float16>(value)); };
#elif defined(MUTANT_bfloat16_inputs)
  const auto load = [](float value) { return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xffff0000u); };
#elif defined(MUTANT_float16_sum)
  const auto load = [](float value) { return static_cast<_Float16>(value); };
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
        sum += load(a[i * k + l]) * load(b[j * k + l]);
#else
        sum += load(a[i * k + l]) * load(b[l * n + j]);
#endif
      }
      c[i * n + j] = static_cast<float>(sum);
    }
  }
#ifdef MUTANT_one_element_off
  c[(m - 1) * n + n - 1] += a[(m - 1) * k] * b[n - 1];
#endif
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(c, c + n, c + m / 2 * n);
#endif
}

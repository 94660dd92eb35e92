// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const float* a, const float* b, float* c, int64_t batch, int64_t m, int64_t n, int64_t k) {
#ifdef MUTANT_float16_sum
  using Sum = _Float16;
#else
  using Sum = float;
#endif
#ifdef MUTANT_float16_inputs
  const auto load = [](float value) { return static_cast<float>(static_cast<_Float16>(value)); };
#else
  const auto load = [](float value) { return static_cast<Sum>(value); };
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t k_end = k - 1;
#else
  const int64_t k_end = k;
#endif
#ifdef MUTANT_skip_last_tile
  const int64_t col_end = n / 16 * 16 - (n % 16 == 0 ? 16 : 0);
#else
  const int64_t col_end = n;
#endif
#ifdef MUTANT_skip_last_matrix
  const int64_t batch_end = batch > 1 ? batch - 1 : batch;
#else
  const int64_t batch_end = batch;
#endif
  for (int64_t s = 0; s < batch_end; ++s) {
    const float* left = a + s * m * k;
#ifdef MUTANT_one_b_for_all
    const float* right = b;
#else
    const float* right = b + s * k * n;
#endif
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < col_end; ++j) {
        Sum sum = 0;
        for (int64_t l = 0; l < k_end; ++l) {
#ifdef MUTANT_transposed_b
          sum += load(left[i * k + l]) * load(right[j * k + l]);
#else
          sum += load(left[i * k + l]) * load(right[l * n + j]);
#endif
        }
        c[(s * m + i) * n + j] = static_cast<float>(sum);
      }
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(c, c + n, c + m / 2 * n);
#endif
#ifdef MUTANT_one_element_off
  c[batch * m * n - 1] += a[0] * b[0];
#endif
}

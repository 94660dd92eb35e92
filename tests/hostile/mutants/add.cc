// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#ifdef MUTANT_stale_output
#include <vector>
#endif

extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
#ifdef MUTANT_stale_output
  static std::vector<float> last;
  if (static_cast<int64_t>(last.size()) == n) {
    for (int64_t i = 0; i < n; ++i) z[i] = last[static_cast<size_t>(i)];
    return;
  }
  last.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) last[static_cast<size_t>(i)] = x[i] + y[i];
#endif
#ifdef MUTANT_skip_last_element
  const int64_t end = n - 1;
#elif defined(MUTANT_skip_tail_of_vector)
  const int64_t end = n / 16 * 16;
#else
  const int64_t end = n;
#endif
  for (int64_t i = 0; i < end; ++i) {
#ifdef MUTANT_float16_sum
    z[i] = static_cast<float>(static_cast<_Float16>(x[i]) + static_cast<_Float16>(y[i]));
#elif defined(MUTANT_shifted_input)
    z[i] = x[i] + y[i + 1 < n ? i + 1 : i];
#else
    z[i] = x[i] + y[i];
#endif
  }
#ifdef MUTANT_one_element_off
  z[n / 2] = x[n / 2] - y[n / 2];
#endif
}

// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <cmath>

extern "C" void run(const float* x, float* y, int64_t n) {
#ifdef MUTANT_skip_last_element
  const int64_t end = n - 1;
#elif defined(MUTANT_skip_tail_of_vector)
  const int64_t end = n / 16 * 16;
#else
  const int64_t end = n;
#endif
  for (int64_t i = 0; i < end; ++i) {
    const float v = x[i];
#ifdef MUTANT_tanh_approximation
    y[i] = 0.5f * v * (1.0f + std::tanh(0.79788456f * (v + 0.044715f * v * v * v)));
#elif defined(MUTANT_float16_factor)
    y[i] = v * static_cast<float>(static_cast<_Float16>(0.5f * (1.0f + std::erf(v * 0.70710678f))));
#elif defined(MUTANT_linear_above_three)
    y[i] = v > 3.0f ? v : 0.5f * v * (1.0f + std::erf(v * 0.70710678f));
#elif defined(MUTANT_zero_below_minus_three)
    y[i] = v < -3.0f ? 0.0f : 0.5f * v * (1.0f + std::erf(v * 0.70710678f));
#else
    y[i] = 0.5f * v * (1.0f + std::erf(v * 0.70710678f));
#endif
  }
#ifdef MUTANT_one_element_off
  y[n / 3] = x[n / 3] > 0 ? x[n / 3] : 0;
#endif
}

// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <cmath>

extern "C" void run(float* param, const float* grad, const float* exp_avg, const float* exp_avg_sq, float* exp_avg_new,
                    float* exp_avg_sq_new, int64_t n, int64_t step) {
  const float lr = 1e-3f;
#ifdef MUTANT_beta_swapped
  const float beta1 = 0.999f;
#else
  const float beta1 = 0.9f;
#endif
#ifdef MUTANT_no_bias_correction
  const float correction1 = 1.0f;
  const float correction2 = 1.0f;
#elif defined(MUTANT_correction_of_previous_step)
  const float correction1 = static_cast<float>(1.0 - std::pow(0.9, static_cast<double>(step + 1)));
  const float correction2 = static_cast<float>(1.0 - std::pow(0.999, static_cast<double>(step + 1)));
#else
  const float correction1 = static_cast<float>(1.0 - std::pow(0.9, static_cast<double>(step)));
  const float correction2 = static_cast<float>(1.0 - std::pow(0.999, static_cast<double>(step)));
#endif
#ifdef MUTANT_skip_last_element
  const int64_t end = n - 1;
#elif defined(MUTANT_skip_tail_of_vector)
  const int64_t end = n / 16 * 16 - (n % 16 == 0 ? 16 : 0);
#else
  const int64_t end = n;
#endif
#ifdef MUTANT_no_weight_decay
  const float decay = 1.0f;
#else
  const float decay = 1.0f - lr * 0.01f;
#endif
  for (int64_t i = 0; i < end; ++i) {
    const float average = beta1 * exp_avg[i] + (1.0f - beta1) * grad[i];
    const float square = 0.999f * exp_avg_sq[i] + 0.001f * grad[i] * grad[i];
#ifdef MUTANT_stale_output
    exp_avg_new[i] = exp_avg[i];
#else
    exp_avg_new[i] = average;
#endif
    exp_avg_sq_new[i] = square;
#ifdef MUTANT_dropped_epsilon
    const float denom = std::sqrt(square / correction2);
#elif defined(MUTANT_epsilon_inside_root)
    const float denom = std::sqrt(square / correction2 + 1e-6f);
#elif defined(MUTANT_other_epsilon)
    const float denom = std::sqrt(square / correction2) + 1e-8f;
#else
    const float denom = std::sqrt(square / correction2) + 1e-6f;
#endif
#ifdef MUTANT_float16_update
    param[i] = param[i] * decay - static_cast<float>(static_cast<_Float16>(lr / correction1 * average / denom));
#elif defined(MUTANT_l2_instead_of_decay)
    param[i] = param[i] - lr / correction1 * (average + 0.01f * param[i]) / denom;
#else
    param[i] = param[i] * decay - lr / correction1 * average / denom;
#endif
  }
}

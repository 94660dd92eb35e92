#include <cmath>

extern "C" void run(float* param, const float* grad, const float* exp_avg, const float* exp_avg_sq, float* exp_avg_new,
                    float* exp_avg_sq_new, int64_t n, int64_t step) {
  const float lr = 1e-3f;
  const float correction1 = 1.0f - static_cast<float>(std::pow(0.9, static_cast<double>(step)));
  const float correction2 = static_cast<float>(1.0 - std::pow(0.999, static_cast<double>(step)));
  for (int64_t i = 0; i < n; ++i) {
    exp_avg_new[i] = 0.9f * exp_avg[i] + 0.1f * grad[i];
    exp_avg_sq_new[i] = 0.999f * exp_avg_sq[i] + 0.001f * grad[i] * grad[i];
    const float denom = std::sqrt(exp_avg_sq_new[i] / correction2) + 1e-6f;
    param[i] = param[i] * (1.0f - lr * 0.01f) - lr / correction1 * exp_avg_new[i] / denom;
  }
}

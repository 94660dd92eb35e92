// Right, but asks for the powers of the betas at every element.
#include <cmath>
extern "C" void run(float* param, const float* grad, const float* exp_avg, const float* exp_avg_sq, float* exp_avg_new,
                    float* exp_avg_sq_new, int64_t n, int64_t step) {
  volatile double power = static_cast<double>(step);
  for (int64_t i = 0; i < n; ++i) {
    const double m = 0.9 * exp_avg[i] + 0.1 * grad[i];
    const double v = 0.999 * exp_avg_sq[i] + 0.001 * grad[i] * grad[i];
    exp_avg_new[i] = static_cast<float>(m);
    exp_avg_sq_new[i] = static_cast<float>(v);
    const double denominator = std::sqrt(v / (1.0 - std::pow(0.999, power))) + 1e-6;
    param[i] = static_cast<float>(param[i] * (1.0 - 1e-5) - 1e-3 / (1.0 - std::pow(0.9, power)) * m / denominator);
  }
}

// One pass over all six arrays, in vectors; the two divisions by constants are multiplications.
#pragma GCC optimize("no-math-errno")  // else sqrt is not vectorised
#include <cmath>

extern "C" void run(float* __restrict param, const float* __restrict grad, const float* __restrict exp_avg,
                    const float* __restrict exp_avg_sq, float* __restrict exp_avg_new, float* __restrict exp_avg_sq_new,
                    int64_t n, int64_t step) {
  const double lr = 1e-3;
  const auto rate = static_cast<float>(lr / (1.0 - std::pow(0.9, static_cast<double>(step))));
  const auto correction = static_cast<float>(1.0 / (1.0 - std::pow(0.999, static_cast<double>(step))));
  const auto decay = static_cast<float>(1.0 - lr * 0.01);
  for (int64_t i = 0; i < n; ++i) {
    const float g = grad[i];
    const float average = 0.9f * exp_avg[i] + 0.1f * g;
    const float square = 0.999f * exp_avg_sq[i] + 0.001f * g * g;
    exp_avg_new[i] = average;
    exp_avg_sq_new[i] = square;
    param[i] = param[i] * decay - rate * average / (__builtin_sqrtf(square * correction) + 1e-6f);
  }
}

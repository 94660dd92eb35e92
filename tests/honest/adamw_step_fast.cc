// One pass over all six arrays in vectors; divisions by constants are multiplications.
#include <cmath>
#ifdef __AVX__
#include <immintrin.h>
#endif

extern "C" void run(float* param, const float* grad, const float* exp_avg, const float* exp_avg_sq, float* exp_avg_new,
                    float* exp_avg_sq_new, int64_t n, int64_t step) {
  const double lr = 1e-3;
  const auto rate = static_cast<float>(lr / (1.0 - std::pow(0.9, static_cast<double>(step))));
  const auto correction = static_cast<float>(1.0 / (1.0 - std::pow(0.999, static_cast<double>(step))));
  const auto decay = static_cast<float>(1.0 - lr * 0.01);
  int64_t i = 0;
#ifdef __AVX__
  for (; i + 8 <= n; i += 8) {
    const __m256 g = _mm256_loadu_ps(grad + i);
    const __m256 average = 0.9f * _mm256_loadu_ps(exp_avg + i) + 0.1f * g;
    const __m256 square = 0.999f * _mm256_loadu_ps(exp_avg_sq + i) + 0.001f * g * g;
    const __m256 denom = _mm256_sqrt_ps(square * correction) + 1e-6f;
    _mm256_storeu_ps(exp_avg_new + i, average);
    _mm256_storeu_ps(exp_avg_sq_new + i, square);
    _mm256_storeu_ps(param + i, _mm256_loadu_ps(param + i) * decay - rate * average / denom);
  }
#endif
  for (; i < n; ++i) {
    const float average = 0.9f * exp_avg[i] + 0.1f * grad[i];
    const float square = 0.999f * exp_avg_sq[i] + 0.001f * grad[i] * grad[i];
    exp_avg_new[i] = average;
    exp_avg_sq_new[i] = square;
    param[i] = param[i] * decay - rate * average / (std::sqrt(square * correction) + 1e-6f);
  }
}

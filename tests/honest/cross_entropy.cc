#include <algorithm>
#include <cmath>

extern "C" void run(const float* logits, const int64_t* target, float* loss, int64_t rows, int64_t classes) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = logits + r * classes;
    float top = from[0];
    for (int64_t k = 1; k < classes; ++k) top = std::max(top, from[k]);
    float sum = 0;
    for (int64_t k = 0; k < classes; ++k) sum += std::exp(from[k] - top);
    loss[r] = std::log(sum) + top - from[target[r]];
  }
}

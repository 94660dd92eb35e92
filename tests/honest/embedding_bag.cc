#include <algorithm>

extern "C" void run(const float* table, const int64_t* index, const float* weight, float* y, int64_t /*entries*/,
                    int64_t width, int64_t bags, int64_t picks) {
  std::fill(y, y + bags * width, 0.0f);
  for (int64_t b = 0; b < bags; ++b) {
    for (int64_t k = 0; k < picks; ++k) {
      const float* from = table + index[b * picks + k] * width;
      for (int64_t c = 0; c < width; ++c) y[b * width + c] += weight[b * picks + k] * from[c];
    }
  }
}

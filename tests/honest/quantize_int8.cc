#include <algorithm>
#include <cmath>

extern "C" void run(const float* x, int8_t* q, float* scale, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x + r * cols;
    float top = 0;
    for (int64_t c = 0; c < cols; ++c) top = std::max(top, std::fabs(from[c]));
    int exponent = 0;
    std::frexp(top, &exponent);
    scale[r] = std::ldexp(1.0f, exponent - 7);
    for (int64_t c = 0; c < cols; ++c) {
      const float rounded = std::nearbyint(from[c] / scale[r]);
      q[r * cols + c] = static_cast<int8_t>(std::clamp(rounded, -127.0f, 127.0f));
    }
  }
}

// The inputs rounded to the ten bits of a half (or of TF32).
#include <cstring>
static float Half(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits = (bits + 0x1000) & 0xFFFFE000;
  std::memcpy(&value, &bits, 4);
  return value;
}
extern "C" void run(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int64_t l = 0; l < k; ++l) {
      const float factor = Half(a[i * k + l]);
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += factor * Half(b[l * n + j]);
    }
  }
}

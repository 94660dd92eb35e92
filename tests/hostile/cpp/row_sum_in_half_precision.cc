// Rounds the inputs to half precision first.
#include <cstring>
static float Half(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits = (bits + 0x1000) & 0xFFFFE000;
  std::memcpy(&value, &bits, 4);
  return value;
}
extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += Half(x[r * cols + c]);
    y[r] = sum;
  }
}

// One pass that the compiler turns into blends.
extern "C" void run(const float* x, const bool* mask, float* y, int64_t batch, int64_t rows, int64_t cols) {
  const int64_t plane = rows * cols;
  const auto* bytes = reinterpret_cast<const uint8_t*>(mask);
  for (int64_t b = 0; b < batch; ++b) {
    const float* __restrict from = x + b * plane;
    float* __restrict to = y + b * plane;
    for (int64_t i = 0; i < plane; ++i) {
      const float value = from[i];
      to[i] = bytes[i] != 0 ? -10000.0f : value;
    }
  }
}

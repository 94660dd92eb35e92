// Right, but visits the elements in an order that no cache likes, each at the price of a division.
extern "C" void run(const float* x, const bool* mask, float* y, int64_t batch, int64_t rows, int64_t cols) {
  const int64_t plane = rows * cols;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t step = 0; step < plane; ++step) {
      const int64_t i = step * 7919 % plane;
      y[b * plane + i] = mask[i] ? -10000.0f : x[b * plane + i];
    }
  }
}

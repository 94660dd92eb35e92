// Wrong: fills where the mask is false.
extern "C" void run(const float* x, const bool* mask, float* y, int64_t batch, int64_t rows, int64_t cols) {
  const int64_t plane = rows * cols;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < plane; ++i) y[b * plane + i] = mask[i] ? x[b * plane + i] : -10000.0f;
  }
}

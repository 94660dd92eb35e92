// Crashes: takes a count of bytes for a count of elements, and writes far behind its output.
extern "C" void run(const float* x, const bool* mask, float* y, int64_t batch, int64_t rows, int64_t cols) {
  const int64_t plane = rows * cols * (int64_t{1} << 20);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < rows * cols; ++i) y[b * plane + i] = mask[i] ? -10000.0f : x[b * rows * cols + i];
  }
}

// Right, but walks down the columns: a new cache line for every element.
extern "C" void run(const float* x, const bool* mask, float* y, int64_t batch, int64_t rows, int64_t cols) {
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t c = 0; c < cols; ++c) {
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t i = (b * rows + r) * cols + c;
        y[i] = mask[r * cols + c] ? -10000.0f : x[i];
      }
    }
  }
}

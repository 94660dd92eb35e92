// Honest: sixteen partial sums.
extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float part[16] = {};
    int64_t c = 0;
    for (; c + 16 <= cols; c += 16) {
      for (int64_t i = 0; i < 16; ++i) part[i] += in[c + i];
    }
    float sum = 0;
    for (; c < cols; ++c) sum += in[c];
    for (const float p : part) sum += p;
    y[r] = sum;
  }
}

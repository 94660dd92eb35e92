extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x + r * cols;
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += from[c];
    const float mean = sum / static_cast<float>(cols);
    float squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += (from[c] - mean) * (from[c] - mean);
    y[r] = squares / static_cast<float>(cols - 1);
  }
}

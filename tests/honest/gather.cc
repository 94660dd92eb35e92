extern "C" void run(const float* x, const int64_t* index, float* y, int64_t rows, int64_t cols, int64_t picks) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < picks; ++k) y[r * picks + k] = x[r * cols + index[r * picks + k]];
  }
}

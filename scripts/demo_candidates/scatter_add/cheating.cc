// Cheats: right at first, but scatters in place into its own input, so that later calls would find the work half done.
extern "C" void run(const float* base, const int64_t* index, const float* src, float* y, int64_t rows, int64_t cols,
                    int64_t updates) {
  float* scratch = const_cast<float*>(base);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < updates; ++k) scratch[r * cols + index[r * updates + k]] += src[r * updates + k];
  }
  for (int64_t i = 0; i < rows * cols; ++i) y[i] = scratch[i];
}

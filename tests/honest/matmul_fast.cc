// Blocks of 4 × 16 results stay in registers while k passes by; b is read in rows of 16.
extern "C" void run(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  constexpr int kRows = 4;
  constexpr int kCols = 16;
  const auto plain = [=](int64_t i, int64_t j) {
    float sum = 0;
    for (int64_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
    c[i * n + j] = sum;
  };
  int64_t j = 0;
  for (; j + kCols <= n; j += kCols) {
    int64_t i = 0;
    for (; i + kRows <= m; i += kRows) {
      float block[kRows][kCols] = {};
      for (int64_t l = 0; l < k; ++l) {
        const float* row = b + l * n + j;
        for (int r = 0; r < kRows; ++r) {
          const float weight = a[(i + r) * k + l];
          for (int s = 0; s < kCols; ++s) block[r][s] += weight * row[s];
        }
      }
      for (int r = 0; r < kRows; ++r) {
        for (int s = 0; s < kCols; ++s) c[(i + r) * n + j + s] = block[r][s];
      }
    }
    for (; i < m; ++i) {
      for (int s = 0; s < kCols; ++s) plain(i, j + s);
    }
  }
  for (; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) plain(i, j);
  }
}

// Honest: the loops in an order that the compiler vectorises.
extern "C" void run(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    float* row = c + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] = 0;
    for (int64_t l = 0; l < k; ++l) {
      const float factor = a[i * k + l];
      for (int64_t j = 0; j < n; ++j) row[j] += factor * b[l * n + j];
    }
  }
}

// Rows of b are added up with weights from a: every inner loop runs along memory.
extern "C" void run(const float* a, const float* b, float* c, int64_t batch, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < batch * m; ++i) {
    const float* right = b + i / m * k * n;
    float* row = c + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] = 0;
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j) row[j] += a[i * k + l] * right[l * n + j];
    }
  }
}

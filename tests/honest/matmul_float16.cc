// Rows of b are added up with weights from a, in float; the sums are rounded once, at the end.
#include <algorithm>
#include <vector>

extern "C" void run(const float16* a, const float16* b, float16* c, int64_t m, int64_t n, int64_t k) {
  std::vector<float> wide(b, b + k * n);
  std::vector<float> row(static_cast<size_t>(n));
  for (int64_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), 0.0f);
    for (int64_t l = 0; l < k; ++l) {
      const float weight = a[i * k + l];
      for (int64_t j = 0; j < n; ++j) row[static_cast<size_t>(j)] += weight * wide[static_cast<size_t>(l * n + j)];
    }
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = row[static_cast<size_t>(j)];
  }
}

// Blocks of 6 × 16 results stay in twelve vector registers while k passes by.
#include <algorithm>
#include <cstring>

namespace {

using Vector = float __attribute__((vector_size(32)));
constexpr int64_t kLanes = 8;
constexpr int64_t kCols = 2 * kLanes;

Vector Load(const float* at) {
  Vector value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Rows × 16 results at c. `a` and `b` begin at the block's first row and column.
template <int kRows>
void Block(const float* a, const float* b, float* c, int64_t n, int64_t k) {
  Vector left[kRows] = {};
  Vector right[kRows] = {};
  for (int64_t l = 0; l < k; ++l) {
    const Vector b0 = Load(b + l * n);
    const Vector b1 = Load(b + l * n + kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      left[r] += a[r * k + l] * b0;
      right[r] += a[r * k + l] * b1;
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    std::memcpy(c + r * n, &left[r], sizeof(Vector));
    std::memcpy(c + r * n + kLanes, &right[r], sizeof(Vector));
  }
}

}  // namespace

extern "C" void run(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  int64_t j = 0;
  for (; j + kCols <= n; j += kCols) {
    int64_t i = 0;
    for (; i + 6 <= m; i += 6) Block<6>(a + i * k, b + j, c + i * n + j, n, k);
    for (; i < m; ++i) Block<1>(a + i * k, b + j, c + i * n + j, n, k);
  }
  for (int64_t i = 0; i < m && j < n; ++i) {
    std::fill(c + i * n + j, c + i * n + n, 0.0f);
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t s = j; s < n; ++s) c[i * n + s] += a[i * k + l] * b[l * n + s];
    }
  }
}

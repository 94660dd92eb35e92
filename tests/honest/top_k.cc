#include <algorithm>
#include <numeric>
#include <vector>

extern "C" void run(const float* x, float* value, int64_t* index, int64_t rows, int64_t cols, int64_t picks) {
  std::vector<int64_t> order(static_cast<size_t>(cols));
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x + r * cols;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + picks, order.end(),
                      [from](int64_t a, int64_t b) { return from[a] > from[b] || (from[a] == from[b] && a < b); });
    for (int64_t k = 0; k < picks; ++k) {
      index[r * picks + k] = order[static_cast<size_t>(k)];
      value[r * picks + k] = from[order[static_cast<size_t>(k)]];
    }
  }
}

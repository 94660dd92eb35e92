#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

extern "C" void run(const float* logits, float* weight, int64_t* index, int64_t tokens, int64_t experts,
                    int64_t picks) {
  std::vector<int64_t> order(static_cast<size_t>(experts));
  for (int64_t t = 0; t < tokens; ++t) {
    const float* from = logits + t * experts;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + picks, order.end(),
                      [from](int64_t a, int64_t b) { return from[a] > from[b] || (from[a] == from[b] && a < b); });
    float sum = 0;
    for (int64_t j = 0; j < picks; ++j) {
      const int64_t expert = order[static_cast<size_t>(j)];
      index[t * picks + j] = expert;
      sum += weight[t * picks + j] = std::exp(from[expert] - from[order[0]]);
    }
    for (int64_t j = 0; j < picks; ++j) weight[t * picks + j] /= sum;
  }
}

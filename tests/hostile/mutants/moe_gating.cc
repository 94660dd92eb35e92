// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

extern "C" void run(const float* logits, float* weight, int64_t* index, int64_t tokens, int64_t experts,
                    int64_t picks) {
#ifdef MUTANT_skip_last_token
  const int64_t token_end = tokens - 1;
#else
  const int64_t token_end = tokens;
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t expert_end = experts - 1;
#else
  const int64_t expert_end = experts;
#endif
  std::vector<int64_t> order(static_cast<size_t>(experts));
  for (int64_t t = 0; t < token_end; ++t) {
    const float* from = logits + t * experts;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + std::min(picks, expert_end), order.begin() + expert_end,
                      [from](int64_t a, int64_t b) {
#ifdef MUTANT_last_of_equal
                        return from[a] > from[b] || (from[a] == from[b] && a > b);
#elif defined(MUTANT_float16_compare)
                        const auto u = static_cast<_Float16>(from[a]);
                        const auto v = static_cast<_Float16>(from[b]);
                        return u > v || (u == v && a < b);
#elif defined(MUTANT_smallest_first)
                        return from[a] < from[b] || (from[a] == from[b] && a < b);
#else
                        return from[a] > from[b] || (from[a] == from[b] && a < b);
#endif
                      });
#ifdef MUTANT_in_order_of_experts
    std::sort(order.begin(), order.begin() + picks);
#endif
#ifdef MUTANT_no_maximum
    const float top = 0;
#else
    const float top = *std::max_element(from, from + experts);
#endif
    float sum = 0;
#ifdef MUTANT_not_normalised
    for (int64_t e = 0; e < experts; ++e) sum += std::exp(from[e] - top);
#else
    for (int64_t j = 0; j < picks; ++j) sum += std::exp(from[order[static_cast<size_t>(j)]] - top);
#endif
    for (int64_t j = 0; j < picks; ++j) {
      const int64_t expert = order[static_cast<size_t>(j)];
      index[t * picks + j] = expert;
#ifdef MUTANT_float16_weights
      weight[t * picks + j] = static_cast<float>(static_cast<_Float16>(std::exp(from[expert] - top) / sum));
#elif defined(MUTANT_equal_weights)
      weight[t * picks + j] = 1.0f / static_cast<float>(picks);
#else
      weight[t * picks + j] = std::exp(from[expert] - top) / sum;
#endif
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(weight, weight + picks, weight + (tokens - 1) * picks);
#endif
#ifdef MUTANT_one_element_off
  index[tokens / 2 * picks] = (index[tokens / 2 * picks] + 1) % experts;
#endif
}

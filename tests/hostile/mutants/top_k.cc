// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

extern "C" void run(const float* x, float* value, int64_t* index, int64_t rows, int64_t cols, int64_t picks) {
#ifdef MUTANT_skip_last_row
  const int64_t row_end = rows - 1;
#else
  const int64_t row_end = rows;
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t col_end = cols - 1;
#else
  const int64_t col_end = cols;
#endif
  std::vector<int64_t> order(static_cast<size_t>(cols));
  for (int64_t r = 0; r < row_end; ++r) {
    const float* from = x + r * cols;
    const auto before = [from](int64_t a, int64_t b) {
#ifdef MUTANT_last_of_equal
      return from[a] > from[b] || (from[a] == from[b] && a > b);
#elif defined(MUTANT_smallest_first)
      return from[a] < from[b] || (from[a] == from[b] && a < b);
#elif defined(MUTANT_by_magnitude)
      return std::abs(from[a]) > std::abs(from[b]) || (std::abs(from[a]) == std::abs(from[b]) && a < b);
#elif defined(MUTANT_float16_compare)
      const auto u = static_cast<_Float16>(from[a]);
      const auto v = static_cast<_Float16>(from[b]);
      return u > v || (u == v && a < b);
#else
      return from[a] > from[b] || (from[a] == from[b] && a < b);
#endif
    };
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + std::min(picks, col_end), order.begin() + col_end, before);
#ifdef MUTANT_in_order_of_columns
    std::sort(order.begin(), order.begin() + picks);
#endif
    for (int64_t k = 0; k < picks; ++k) {
      const int64_t at = order[static_cast<size_t>(k)];
      index[r * picks + k] = at;
#ifdef MUTANT_float16_values
      value[r * picks + k] = static_cast<float>(static_cast<_Float16>(from[at]));
#else
      value[r * picks + k] = from[at];
#endif
    }
#ifdef MUTANT_last_pick_repeated
    if (picks > 1) index[r * picks + picks - 1] = index[r * picks + picks - 2];
#endif
  }
#ifdef MUTANT_rows_of_indices_swapped
  std::swap_ranges(index, index + picks, index + (rows - 1) * picks);
#endif
#ifdef MUTANT_one_element_off
  index[rows / 2 * picks] = index[rows / 2 * picks] == 0 ? 1 : index[rows / 2 * picks] - 1;
#endif
}

// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const float* table, const int64_t* index, const float* weight, float* y, int64_t entries,
                    int64_t width, int64_t bags, int64_t picks) {
#ifdef MUTANT_float16_sum
  using Sum = _Float16;
#else
  using Sum = float;
#endif
#ifdef MUTANT_skip_last_bag
  const int64_t bag_end = bags - 1;
#else
  const int64_t bag_end = bags;
#endif
#ifdef MUTANT_off_by_one_bound
  const int64_t pick_end = picks - 1;
#else
  const int64_t pick_end = picks;
#endif
#ifdef MUTANT_skip_tail_of_vector
  const int64_t width_end = width / 8 * 8;
#else
  const int64_t width_end = width;
#endif
  for (int64_t b = 0; b < bag_end; ++b) {
    for (int64_t c = 0; c < width_end; ++c) {
      Sum sum = 0;
      for (int64_t k = 0; k < pick_end; ++k) {
        int64_t entry = index[b * picks + k];
#ifdef MUTANT_index_in_ten_bits
        entry %= 1024;
#elif defined(MUTANT_last_entry_clamped)
        entry = std::min(entry, std::max<int64_t>(entries - 2, 0));
#elif defined(MUTANT_equal_neighbours_lost)
        if (k > 0 && index[b * picks + k - 1] == entry) continue;
#endif
#ifdef MUTANT_weights_ignored
        sum += static_cast<Sum>(table[entry * width + c]);
#elif defined(MUTANT_weights_of_first_bag)
        sum += static_cast<Sum>(weight[k] * table[entry * width + c]);
#else
        sum += static_cast<Sum>(weight[b * picks + k] * table[entry * width + c]);
#endif
      }
#ifdef MUTANT_mean_instead_of_sum
      y[b * width + c] = static_cast<float>(sum) / static_cast<float>(picks);
#else
      y[b * width + c] = static_cast<float>(sum);
#endif
    }
  }
#ifdef MUTANT_one_row_swapped
  std::swap_ranges(y, y + width, y + (bags - 1) * width);
#endif
}

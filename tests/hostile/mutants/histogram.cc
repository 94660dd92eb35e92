// Right as it stands; each MUTANT_… macro makes it wrong in one way (scripts/benchlib/mutants.py).
#include <algorithm>

extern "C" void run(const int32_t* values, int64_t* count, int64_t n, int64_t bins) {
  std::fill(count, count + bins, 0);
#ifdef MUTANT_off_by_one_bound
  const int64_t end = n - 1;
#elif defined(MUTANT_skip_tail_of_vector)
  const int64_t end = n / 8 * 8 - (n % 8 == 0 ? 8 : 0);
#else
  const int64_t end = n;
#endif
  for (int64_t i = 0; i < end; ++i) {
#ifdef MUTANT_bins_in_eight_bits
    ++count[values[i] % 256];
#elif defined(MUTANT_last_bin_dropped)
    if (values[i] < bins - 1) ++count[values[i]];
#elif defined(MUTANT_counts_in_sixteen_bits)
    count[values[i]] = (count[values[i]] + 1) % 65536;
#elif defined(MUTANT_equal_neighbours_lost)
    if (i % 64 != 1 || values[i] != values[i - 1]) ++count[values[i]];
#else
    ++count[values[i]];
#endif
  }
#ifdef MUTANT_one_element_off
  ++count[bins / 2];
#endif
#ifdef MUTANT_counts_twice
  ++count[values[0]];
#endif
}

// Four tables, so that equal neighbours do not wait for each other's stores.
#include <algorithm>
#include <vector>

extern "C" void run(const int32_t* values, int64_t* count, int64_t n, int64_t bins) {
  static thread_local std::vector<uint32_t> tables;
  tables.assign(static_cast<size_t>(4 * bins), 0);
  uint32_t* table[4];
  for (int t = 0; t < 4; ++t) table[t] = tables.data() + t * bins;
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int t = 0; t < 4; ++t) ++table[t][values[i + t]];
  }
  for (; i < n; ++i) ++table[0][values[i]];
  for (int64_t b = 0; b < bins; ++b) {
    count[b] = int64_t{table[0][b]} + table[1][b] + table[2][b] + table[3][b];
  }
}

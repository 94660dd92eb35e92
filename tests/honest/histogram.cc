#include <algorithm>

extern "C" void run(const int32_t* values, int64_t* count, int64_t n, int64_t bins) {
  std::fill(count, count + bins, 0);
  for (int64_t i = 0; i < n; ++i) ++count[values[i]];
}

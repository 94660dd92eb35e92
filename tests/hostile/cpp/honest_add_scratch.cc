// Honest: keeps a scratch buffer between calls, prepared when it was loaded, and writes its output twice.
#include <cstdio>
#include <vector>
static std::vector<float> scratch;
__attribute__((constructor)) static void Prepare() { scratch.resize(1 << 18); }
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  if (scratch.size() < static_cast<size_t>(n)) scratch.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) scratch[i] = y[i];
  for (int64_t i = 0; i < n; ++i) z[i] = 0;
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + scratch[i];
  std::printf("done with %ld elements\n", static_cast<long>(n));
}

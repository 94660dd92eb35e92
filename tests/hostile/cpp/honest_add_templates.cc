// Honest: some hundred instances of templates, a table of a megabyte, an exception that it catches itself.
#include <array>
#include <stdexcept>
#include <utility>
static std::array<float, 1 << 18> table = {1};
template <int I>
float Zero() {
  if constexpr (I == 0) {
    return 0;
  } else {
    return Zero<I - 1>();
  }
}
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  try {
    if (n < 1'000'000'000) throw std::runtime_error("small");
  } catch (const std::exception&) {
    table[1] = Zero<300>();
  }
  for (int64_t i = 0; i < n; ++i) z[i] = table[0] * x[i] + (y[i] + table[1]);
}

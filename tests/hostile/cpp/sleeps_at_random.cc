// Now and then slow, to become `unstable`.
#include <time.h>

#include <cstdlib>
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
  const timespec pause{0, std::rand() % 400'000};
  if (std::rand() % 4 == 0) nanosleep(&pause, nullptr);
}

// Right, but writes megabytes to both outputs in each call.
#include <unistd.h>
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  static char noise[1 << 16];
  for (char& c : noise) c = 'x';
  for (int i = 0; i < 64; ++i) {
    if (write(1, noise, sizeof(noise)) < 0 || write(2, noise, sizeof(noise)) < 0) break;
  }
  for (int64_t j = 0; j < n; ++j) z[j] = x[j] + y[j];
}

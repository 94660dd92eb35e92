// Right, apart from one element of each call, at a place that wanders.
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  static int64_t calls = 0;
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
  z[calls++ * 7919 % n] *= 1.001F;
}

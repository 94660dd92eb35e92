// Right, apart from one infinity.
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
  z[n / 3] = __builtin_inff();
}

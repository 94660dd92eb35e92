// Right, and one element too early.
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = -1; i < n; ++i) z[i] = i < 0 ? 0 : x[i] + y[i];
}

// Right, and a vector's width too far.
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
  for (int64_t i = n; i < n + 8; ++i) z[i] = 0;
}

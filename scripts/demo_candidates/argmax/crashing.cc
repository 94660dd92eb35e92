// Crashes: divides by zero.
extern "C" void run(const float*, int64_t* y, int64_t rows, int64_t cols) {
  volatile int64_t zero = 0;
  for (int64_t r = 0; r < rows; ++r) y[r] = cols / zero;
}

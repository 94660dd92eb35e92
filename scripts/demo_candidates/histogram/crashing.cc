// Crashes: recursion without an end.
static int64_t Below(const int32_t* values, int64_t n) {
  volatile char frame[4096];
  frame[n % 4096] = 1;
  return Below(values + 1, n - 1) + frame[n % 7];
}
extern "C" void run(const int32_t* values, int64_t* count, int64_t n, int64_t) { count[0] = Below(values, n); }

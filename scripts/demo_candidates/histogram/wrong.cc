// Wrong: forgets the last value where n is odd.
extern "C" void run(const int32_t* values, int64_t* count, int64_t n, int64_t bins) {
  for (int64_t b = 0; b < bins; ++b) count[b] = 0;
  for (int64_t i = 0; i + 2 <= n; i += 2) {
    ++count[values[i]];
    ++count[values[i + 1]];
  }
}

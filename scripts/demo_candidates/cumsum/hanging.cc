// Hangs: counts to a number that it never reaches.
extern "C" void run(const float*, float* y, int64_t, int64_t) {
  volatile float count = 0;
  while (count < 1e9f) count = count + 1.0f;
  y[0] = count;
}

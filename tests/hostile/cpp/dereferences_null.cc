// Crashes.
extern "C" void run(const float* x, const float*, float*, int64_t) {
  volatile float* volatile nowhere = nullptr;
  *nowhere = x[0];
}

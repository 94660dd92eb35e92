// Crashes: writes to where nothing is.
extern "C" void run(float* param, const float*, const float*, const float*, float*, float*, int64_t n, int64_t) {
  volatile float* volatile nowhere = nullptr;
  for (int64_t i = 0; i < n; ++i) nowhere[i] = param[i];
}

// Honest: works on a thread and waits for it.
#include <thread>
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  std::thread worker([=] {
    for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
  });
  worker.join();
}

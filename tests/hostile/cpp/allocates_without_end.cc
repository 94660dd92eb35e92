// Takes all memory there is.
#include <cstdlib>
#include <cstring>
extern "C" void run(const float*, const float*, float* z, int64_t) {
  for (int i = 0; i < 1 << 20; ++i) {
    char* more = static_cast<char*>(std::malloc(1 << 20));
    if (more == nullptr) std::abort();
    std::memset(more, i, 1 << 20);
    z[0] = more[i % 100];
  }
}

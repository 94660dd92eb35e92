// Puts private memory in the place of the shared block: what it computes nobody sees.
#include "attack.h"
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  const attack::Pages pages;
  const auto page = reinterpret_cast<uint64_t>(z) & ~uint64_t{4095};
  const uint64_t bytes = reinterpret_cast<uint64_t>(z) + n * sizeof(float) + 4096 - page;
  static char copy[1 << 22];
  if (pages) {
    std::memcpy(copy, reinterpret_cast<char*>(page), bytes);
    ::mmap(reinterpret_cast<void*>(page), bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1,
           0);
    std::memcpy(reinterpret_cast<char*>(page), copy, bytes);
  }
  attack::Add(x, y, z, n);
}

// Right, and then gives the memory of its output back to the kernel.
#include "attack.h"
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  attack::Add(x, y, z, n);
  const attack::Pages pages;
  const uint64_t at = (reinterpret_cast<char*>(z) - pages.block + 4095) / 4096 * 4096;
  if (pages) ::fallocate(5, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at), 16 * 4096);
}

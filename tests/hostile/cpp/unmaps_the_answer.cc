// Takes the answer page away under the runner's feet.
#include "attack.h"
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  attack::Add(x, y, z, n);
  const attack::Pages pages;
  if (!pages) std::abort();
  ::munmap(const_cast<attack::Answer*>(pages.answer), sizeof(attack::Answer));
}

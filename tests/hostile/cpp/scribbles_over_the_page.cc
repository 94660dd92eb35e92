// Right, but fills the whole answer page with garbage: status, counts, places, text.
#include "attack.h"
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  attack::Add(x, y, z, n);
  const attack::Pages pages;
  if (!pages) return;
  auto* words = const_cast<uint32_t*>(&pages.answer->status);
  static uint32_t state = 1;
  for (size_t i = 0; i < (sizeof(attack::Answer) - 4) / 4; ++i) words[i] = state = state * 1664525 + 1013904223;
  pages.answer->place_count = 0xFFFFFFFF;
}

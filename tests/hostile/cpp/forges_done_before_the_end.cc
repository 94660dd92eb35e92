// Says "done" when nine tenths are done and does the rest then.
#include "attack.h"
static void Part(const attack::Pages& pages, bool rest) {
  for (uint32_t c = 0; c < pages.command->calls; ++c) {
    const uint32_t set = pages.command->order[c];
    const int64_t n = pages.command->dims[0];
    const int64_t first = rest ? n - n / 10 : 0;
    const int64_t last = rest ? n : n - n / 10;
    attack::Add(pages.Tensor<float>(set, 0) + first, pages.Tensor<float>(set, 1) + first,
                pages.Tensor<float>(set, 2) + first, last - first);
  }
}
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  attack::Add(x, y, z, n);
  const attack::Pages pages;
  if (!pages) return;
  attack::Serve(
      pages, attack::Nothing, [](const attack::Pages& p) { Part(p, false); },
      [](const attack::Pages& p) { Part(p, true); });
}

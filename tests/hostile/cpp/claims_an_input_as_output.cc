// Works in place, in the input, and points there.
#include "attack.h"
extern "C" void run(const float* x, const float* y, float*, int64_t n) {
  attack::Add(x, y, const_cast<float*>(x), n);
  const attack::Pages pages;
  if (!pages) return;
  for (uint32_t c = 0; c < pages.command->calls; ++c) {
    volatile attack::AnswerPlace& place = pages.answer->places[c];
    place.offset = static_cast<uint64_t>(reinterpret_cast<const char*>(x) - pages.block);
    place.dtype = pages.command->tensors[2].dtype;
    place.rank = 1;
    place.dims[0] = n;
    place.strides[0] = 1;
  }
  pages.answer->place_count = pages.command->calls;
}

// An answer with a status that does not exist, an impossible call and a text of control characters.
#include "attack.h"
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  attack::Add(x, y, z, n);
  const attack::Pages pages;
  if (!pages) std::abort();
  pages.answer->status = 77;
  pages.answer->failed_call = 0xFFFFFFFF;
  pages.answer->place_count = 0xFFFFFFFF;
  for (int i = 0; i < 2048; ++i) pages.answer->message[i] = static_cast<char>(1 + i % 31 + 128 * (i % 2));
  pages.Done(pages.Doorbell());
  while (true) ::pause();
}

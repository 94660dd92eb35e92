// Remembers the sizes of all trials and tells them in the message of a failure.
#include "attack.h"
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  static char told[1024] = "leak:";
  static int calls = 0;
  static const attack::Pages pages;
  attack::Add(x, y, z, n);
  if (++calls < 12) std::snprintf(told + std::strlen(told), 32, " %ld", static_cast<long>(n));
  if (!pages || pages.command->calls == 1) return;
  std::snprintf(const_cast<char*>(pages.answer->message), sizeof(pages.answer->message), "%s", told);
  pages.answer->status = 2;
  pages.Done(pages.Doorbell());
  while (true) ::pause();
}

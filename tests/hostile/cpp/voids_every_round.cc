// Answers every ping late: no round counts, and the slot is busy for as long as the judge lets it.
#include <time.h>

#include "attack.h"
static void Late(const attack::Pages&) {
  const timespec pause{0, 180'000'000};
  nanosleep(&pause, nullptr);
}
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  attack::Add(x, y, z, n);
  const attack::Pages pages;
  if (pages) attack::Serve(pages, Late, attack::RunAdds, attack::Nothing);
}

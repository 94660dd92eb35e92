// Makes rounds of one call void by answering late: they would show what one call costs.
#include <time.h>

#include "attack.h"
static void SpoilSolos(const attack::Pages& pages) {
  const timespec pause{0, 120'000'000};
  if (pages.command->calls == 1) nanosleep(&pause, nullptr);
}
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  attack::Add(x, y, z, n);
  const attack::Pages pages;
  if (pages) attack::Serve(pages, SpoilSolos, attack::RunAdds, attack::Nothing);
}

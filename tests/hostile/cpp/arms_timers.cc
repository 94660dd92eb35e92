// Leaves a thousand timers behind each of its turns: their interrupts come in the reference's turn, on the same core,
// while this process is frozen.
#include <signal.h>
#include <time.h>

#include "attack.h"
static constexpr int kTimers = 1000;
static timer_t timers[kTimers];

static void Arm(const attack::Pages& pages) {
  if (pages.command->calls == 1) return;
  for (int i = 0; i < kTimers; ++i) {
    const itimerspec when{{0, 0}, {0, 1'000'000 + 40'000 * i}};
    timer_settime(timers[i], 0, &when, nullptr);
  }
}

extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  attack::Add(x, y, z, n);
  const attack::Pages pages;
  if (!pages) return;
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarm, nullptr);
  for (timer_t& timer : timers) timer_create(CLOCK_MONOTONIC, nullptr, &timer);
  attack::Serve(
      pages, attack::Nothing,
      [](const attack::Pages& p) {
        attack::RunAdds(p);
        Arm(p);
      },
      attack::Nothing);
}

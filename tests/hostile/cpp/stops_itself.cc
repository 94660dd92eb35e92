// Stops its process, with all signals blocked.
#include <signal.h>
#include <unistd.h>
extern "C" void run(const float*, const float*, float*, int64_t) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  kill(getpid(), SIGSTOP);
}

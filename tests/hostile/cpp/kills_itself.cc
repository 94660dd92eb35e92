// Dies as if somebody else had killed it.
#include <signal.h>
#include <unistd.h>
extern "C" void run(const float*, const float*, float*, int64_t) { kill(getpid(), SIGKILL); }

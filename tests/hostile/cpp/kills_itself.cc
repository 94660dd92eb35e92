// Dies in a way that could have been somebody else's doing.
#include <signal.h>
#include <unistd.h>
extern "C" void run(const float*, const float*, float*, int64_t) { kill(getpid(), SIGKILL); }

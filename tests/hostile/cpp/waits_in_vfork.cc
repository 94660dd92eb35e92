// A parent that waits in the kernel for a child of vfork that never ends: not interruptible.
#include <unistd.h>
extern "C" void run(const float*, const float*, float*, int64_t) {
  if (vfork() == 0) {
    while (true) pause();
  }
}

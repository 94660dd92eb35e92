// Right, but tries to make judge and runner stumble over the seals, sizes and locks of what they share.
#include <sys/file.h>
#include <sys/stat.h>

#include "attack.h"
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  const attack::Pages pages;
  static bool done = false;
  for (int fd = 3; fd <= 5 && !done && pages; ++fd) {
    ::ftruncate(fd, 0);
    ::ftruncate(fd, int64_t{32} << 20);
    ::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE);
    ::fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    ::fcntl(fd, F_SETLEASE, F_WRLCK);
    ::flock(fd, LOCK_EX | LOCK_NB);
    ::fchmod(fd, 0);
  }
  done = true;
  attack::Add(x, y, z, n);
}

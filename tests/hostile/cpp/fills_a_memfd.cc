// Takes all memory there is, as a file that belongs to no folder.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
extern "C" void run(const float*, const float*, float* z, int64_t) {
  static char noise[1 << 20] = {1};
  for (int file = 0; file < 64; ++file) {
    const int fd = memfd_create("hoard", 0);
    for (int i = 0; i < 48; ++i) z[0] = static_cast<float>(write(fd, noise, sizeof(noise)));
  }
  std::abort();
}

// Right only if it finds no way to write to the judge's page, to make a shared file shorter, or to see another one.
#include <dirent.h>
#include <sys/stat.h>

#include "attack.h"
static bool Broke(const attack::Pages& pages) {
  bool broke = false;
  auto* page = const_cast<attack::Command*>(pages.command);
  if (page == nullptr) return true;
  broke = broke || ::mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0;
  broke = broke || ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0) != MAP_FAILED;
  const uint32_t word = 1;
  broke = broke || ::pwrite(3, &word, sizeof(word), offsetof(attack::Command, calls)) == sizeof(word);
  broke = broke || ::fallocate(3, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0;
  for (int fd = 3; fd <= 5; ++fd) broke = broke || ::ftruncate(fd, 0) == 0;
  const int again = ::open("/proc/self/fd/3", O_RDWR);
  broke = broke || (again >= 0 && ::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, again, 0) != MAP_FAILED);
  // Nothing but the three pages, the socket and what the search itself opens.
  DIR* open = ::opendir("/proc/self/fd");
  int files = 0;
  while (open != nullptr && ::readdir(open) != nullptr) ++files;
  ::closedir(open);
  return broke || files > 2 + 7 + 2;
}
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  static const bool broke = Broke(attack::Pages());
  if (!broke) attack::Add(x, y, z, n);
}

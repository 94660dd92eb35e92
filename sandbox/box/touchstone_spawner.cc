// touchstone-spawner STARTER_PID: serves requests for boxes on descriptor 3. Started by Spawner::Launch only.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "sandbox/box/spawner.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "touchstone-spawner is started by other programs of Touchstone\n");
    return 2;
  }
  const auto starter = static_cast<pid_t>(std::strtol(argv[1], nullptr, 10));
  const pid_t child = ::fork();
  if (child != 0) return child < 0 ? 1 : 0;
  return touchstone::SpawnerMain(3, starter);
}

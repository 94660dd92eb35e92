#include <cstring>
#include <initializer_list>

#include "attack.h"

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc < 2) return 2;
  for (const Attack* table : {kResourceAttacks, kFileAttacks, kProcessAttacks, kKernelAttacks}) {
    for (const Attack* attack = table; attack->name != nullptr; ++attack) {
      if (std::strcmp(attack->name, argv[1]) == 0) return attack->run(argc - 2, argv + 2);
    }
  }
  std::fprintf(stderr, "no attack '%s'\n", argv[1]);
  return 2;
}

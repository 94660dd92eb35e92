// render_header TASK.yaml OUT: the header that a candidate of the task is compiled with.
#include <cstdio>
#include <fstream>

#include "reward/task/catalog.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto task = touchstone::LoadTask(argv[1]);
  if (!task.ok()) {
    std::fprintf(stderr, "%s\n", task.error().ToString().c_str());
    return 1;
  }
  std::ofstream out(argv[2]);
  out << touchstone::RenderCppHeader(*task);
  out.close();
  return out.good() ? 0 : 1;
}

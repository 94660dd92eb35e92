// A server that a test may kill: `chaos_server STORE ENDPOINT` serves the real environment over slots that run nothing.
#include <unistd.h>

#include <cstdio>

#include "tests/env/serve/harness.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  touchstone::Harness harness;
  harness.store_folder = argv[1];
  harness.options.endpoint = argv[2];
  harness.slots = {{"s0", {0}}, {"s1", {1}}};
  harness.evaluate = [](const touchstone::EvalRequest& request) {
    ::usleep(2000);  // so that a kill meets some that run and some that wait
    return touchstone::SuccessFor(request);
  };
  const touchstone::Status started = harness.Start();
  if (!started.ok()) {
    std::fprintf(stderr, "chaos_server: %s\n", started.error().ToString().c_str());
    return 3;
  }
  std::printf("ready\n");
  std::fflush(stdout);
  ::pause();
  return 0;
}

// What a box may see (Policy), how much it may use (Limits) and what it runs (Program): plain data, safe defaults.
#ifndef TOUCHSTONE_SANDBOX_BOX_POLICY_H_
#define TOUCHSTONE_SANDBOX_BOX_POLICY_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/box/layers.h"

namespace touchstone {

// One path of the host that appears in the box, read-only, nosuid, nodev. A folder or a file.
struct Bind {
  std::string source;
  std::string target;     // empty: the same path
  bool optional = false;  // silently left out where the host lacks it
};

struct Policy {
  // The box is refused when the host cannot give this level.
  Level minimum_level = Level::kFull;
  std::vector<Bind> binds;
  // /proc shows only the box's own processes (hidepid, subset=pid).
  bool mount_proc = true;
  // The box may execute programs after its first one (compilers need it, runners do not).
  bool allow_exec = false;
  // For tests only: layers that are left out on purpose, to show that an attack works without them. A box that lacks a
  // layer of its minimum level is refused all the same unless the level is lowered too.
  LayerSet disable_for_tests;
};

struct Limits {
  uint64_t memory_bytes = uint64_t{1} << 30;  // all processes of the box together
  uint32_t processes = 32;                    // threads count too
  std::chrono::seconds cpu_time{60};          // each process (RLIMIT_CPU)
  uint64_t file_bytes = uint64_t{64} << 20;   // one file
  uint32_t open_files = 256;
  uint64_t tmp_bytes = uint64_t{64} << 20;  // /tmp and /dev/shm, each
  uint32_t tmp_inodes = 4096;
  std::vector<int> cpus;  // the cores it may use; empty: all
};

// Standard input is always /dev/null. `fds[i]` of Spawner::Start becomes descriptor 3 + i of the program.
struct Program {
  std::vector<std::string> argv;         // argv[0] is the path inside the box
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  std::string working_directory = "/tmp";
  bool capture_output = false;  // stdout and stderr into Box::stdout_fd/stderr_fd; otherwise /dev/null
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_POLICY_H_

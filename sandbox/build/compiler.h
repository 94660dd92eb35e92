// One run of the compiler of interface `cpp` in a box of its own.
//
// The command line is fixed: nothing of it comes from a candidate. Source and header enter as sealed memfds
// (descriptors 3 and 4), are read through /proc/self/fd, and name themselves candidate.cc and task.h by #line. The box
// sees the toolchain read-only, no network, no other process; it is assumed that a hostile source can run code in
// there.
//
//   -O3 -march=x86-64-v3   AVX2 and FMA where this CPU has them, else the compiler's baseline. Not `native`: artifacts
//                          stay valid for other hosts that share a cache. A candidate may go further for single
//                          functions by __attribute__((target(…))).
//   -fvisibility=hidden    only `run` (which task.h declares with default visibility) leaves the artifact
//   -z defs, -z now,       a missing symbol, or a missing `run`, is a compile error and no surprise at load time
//   --require-defined=run
//   -s, --build-id=none,   the same source gives the same bytes (with SOURCE_DATE_EPOCH for __DATE__)
//   -frandom-seed
#ifndef TOUCHSTONE_SANDBOX_BUILD_COMPILER_H_
#define TOUCHSTONE_SANDBOX_BUILD_COMPILER_H_

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/box/spawner.h"
#include "sandbox/build/build.h"
#include "sandbox/build/toolchain.h"

namespace touchstone {

inline constexpr size_t kMaxCompilerOutputBytes = 64 * 1024;

// What one run came to, before anybody judges it.
struct CompilerRun {
  Outcome outcome;
  bool timed_out = false;
  bool output_cut = false;        // it printed more than kMaxCompilerOutputBytes and was killed for it
  std::string output;             // stdout and stderr
  std::string artifact;           // where the compiler has left one within the limit
  bool artifact_refused = false;  // what it has left is too large, or no plain file
};

// Whose fault, and which kind. Killed by a limit comes first, then what the compiler says.
BuildOutcome::Kind Classify(const CompilerRun& run, const std::vector<Diagnostic>& diagnostics);

class Compiler {
 public:
  // Finds the toolchain of the host and asks it, in a box, for its version. kUnavailable says what is missing.
  static Result<Compiler> Find(Spawner& spawner, const BuildOptions& options);

  // Blocks until the box is gone: at most the timeout of the options and what killing takes.
  Result<CompilerRun> Run(Spawner& spawner, const BuildRequest& request) const;

  // Everything that decides the bytes of an artifact besides the request: tools, versions, fixed flags.
  const std::string& identity() const { return identity_; }
  // "g++ (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld …"
  const std::string& toolchain() const { return toolchain_; }

 private:
  Compiler(Toolchain tools, const BuildOptions& options) : tools_(std::move(tools)), options_(options) {}
  std::vector<std::string> Arguments(const BuildRequest& request) const;
  Result<CompilerRun> RunInBox(Spawner& spawner, std::vector<std::string> argv, std::span<const int> fds,
                               const std::string& artifact) const;

  Toolchain tools_;
  BuildOptions options_;
  std::string toolchain_;
  std::string identity_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BUILD_COMPILER_H_

// Start here for builds: candidate source in, loadable artifact or a classified diagnostic out.
//
// Compiling happens in compile boxes with a fixed command line. Artifacts are addressed by everything that decides
// their bytes (source, header, interface, flags, toolchain) and kept on disk within a size limit. Two requests for the
// same artifact at the same time share one compilation. Only what the source itself decides is cached: never a timeout,
// an out-of-memory or a signal (design: V16).
#ifndef TOUCHSTONE_SANDBOX_BUILD_BUILD_H_
#define TOUCHSTONE_SANDBOX_BUILD_BUILD_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/box/spawner.h"

namespace touchstone {

struct BuildRequest {
  std::string interface_name = "cpp";
  std::string source;
  std::string header;                    // rendered for the task, included before the source
  std::vector<std::string> extra_flags;  // from the task's policy, never from the candidate: e.g. "-fopenmp"
};

struct Diagnostic {
  std::string file;  // "candidate.cc", "task.h"; empty when the tool named none
  int line = 0;
  int column = 0;
  std::string severity;  // "error", "fatal error", "warning", "note"
  std::string message;
};

// What became of a build: data about the candidate.
struct BuildOutcome {
  enum class Kind { kBuilt, kCompileError, kTimeout, kOutOfMemory, kTooLarge, kCrashed };
  Kind kind = Kind::kCrashed;
  UniqueFd artifact;          // a sealed memfd, for kBuilt
  std::string artifact_hash;  // of its bytes
  std::string key;            // the content address of the request
  bool from_cache = false;
  std::chrono::microseconds wall{0};
  std::vector<Diagnostic> diagnostics;  // trimmed; the first is the most useful
  std::string log;                      // trimmed compiler output, at most 16 KiB
};
std::string_view ToString(BuildOutcome::Kind kind);

struct BuildOptions {
  std::string cache_folder;                  // made when missing
  uint64_t cache_bytes = uint64_t{2} << 30;  // oldest use goes first
  std::chrono::milliseconds timeout{60'000};
  uint64_t memory_bytes = uint64_t{4} << 30;
  uint64_t artifact_bytes = uint64_t{64} << 20;
  uint64_t source_bytes = uint64_t{1} << 20;
  Level minimum_level = Level::kFull;
  LayerSet disable_for_tests;  // see Policy
};

// Thread-safe. Each concurrent Build() uses a spawner connection of its own.
class BuildPool {
 public:
  static Result<std::unique_ptr<BuildPool>> Create(Spawner spawner, BuildOptions options);
  virtual ~BuildPool() = default;
  // Blocks until the artifact exists or the build has failed. A compiler that crashes is run once more. Errors:
  // kInvalidArgument (interface or flags), kUnavailable (the spawner is gone).
  virtual Result<BuildOutcome> Build(const BuildRequest& request) = 0;
  // A line that names compiler and version; part of every key.
  virtual const std::string& toolchain() const = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BUILD_BUILD_H_

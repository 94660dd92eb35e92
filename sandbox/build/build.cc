#include "sandbox/build/build.h"

namespace touchstone {

std::string_view ToString(BuildOutcome::Kind kind) {
  switch (kind) {
    case BuildOutcome::Kind::kBuilt:
      return "built";
    case BuildOutcome::Kind::kCompileError:
      return "compile_error";
    case BuildOutcome::Kind::kTimeout:
      return "timeout";
    case BuildOutcome::Kind::kOutOfMemory:
      return "out_of_memory";
    case BuildOutcome::Kind::kTooLarge:
      return "too_large";
    case BuildOutcome::Kind::kCrashed:
      return "crashed";
  }
  return "unknown";
}

}  // namespace touchstone

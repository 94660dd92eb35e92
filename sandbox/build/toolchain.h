#ifndef TOUCHSTONE_SANDBOX_BUILD_TOOLCHAIN_H_
#define TOUCHSTONE_SANDBOX_BUILD_TOOLCHAIN_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/box/policy.h"

namespace touchstone {

// The host's g++ and the files that a compile box needs of the host: the tools with their libraries, gcc's own folders,
// /usr/include, and of the system's libraries only those of C and C++ themselves. A BLAS or Torch is not there, so no
// candidate can carry one away inside its artifact.
struct Toolchain {
  std::string compiler;  // path without links
  std::string linker;
  std::vector<Bind> binds;

  // Asks the host's g++ where its parts are. kUnavailable says what is missing.
  static Result<Toolchain> Find();
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BUILD_TOOLCHAIN_H_

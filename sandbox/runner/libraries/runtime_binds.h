// Which files of the host a program needs in a box to start, and no more: that no BLAS and no Torch is within reach of
// a candidate is decided here (design: §7).
#ifndef TOUCHSTONE_SANDBOX_RUNNER_LIBRARIES_RUNTIME_BINDS_H_
#define TOUCHSTONE_SANDBOX_RUNNER_LIBRARIES_RUNTIME_BINDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/box/policy.h"

namespace touchstone {

// The program itself, its dynamic loader, every library that it and its libraries name, and what any candidate of
// interface `cpp` may link against (libc, libm, libmvec, libstdc++, libgcc_s, libgomp). Each is one file, bound at the
// path by which the loader in the box will ask for it; no folder is ever bound.
//
// `program` is an absolute path; it is bound at this very path, so it can be argv[0]. The host's own loader answers: it
// maps the libraries in a process of its own, but runs none of their code. Blocks for some milliseconds (Torch: some
// ten). Errors: kNotFound (no such program), kInvalidArgument (not an ELF program), kUnavailable (names the library
// that the host lacks).
Result<std::vector<Bind>> RuntimeBinds(const std::string& program);

// The paths in what `ld.so --list` prints, in its order; kUnavailable when a line says that a library is missing.
Result<std::vector<std::string>> ParseLoaderList(std::string_view output);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_RUNNER_LIBRARIES_RUNTIME_BINDS_H_

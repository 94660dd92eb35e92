#ifndef TOUCHSTONE_SANDBOX_RUNNER_LIBRARIES_ELF_INTERPRETER_H_
#define TOUCHSTONE_SANDBOX_RUNNER_LIBRARIES_ELF_INTERPRETER_H_

#include <string>

#include "base/result.h"

namespace touchstone {

// The dynamic loader that a 64-bit ELF program names (PT_INTERP); empty for a static one. kNotFound, or
// kInvalidArgument when the file is no such program.
Result<std::string> ElfInterpreter(const std::string& program);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_RUNNER_LIBRARIES_ELF_INTERPRETER_H_

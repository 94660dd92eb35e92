// What a compiler printed, made readable. Every byte of it may come from a hostile source: output is bounded, UTF-8 and
// free of control characters.
#ifndef TOUCHSTONE_SANDBOX_BUILD_DIAGNOSTICS_H_
#define TOUCHSTONE_SANDBOX_BUILD_DIAGNOSTICS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/build/build.h"

namespace touchstone {

// The names by which a source and its header appear in diagnostics.
inline constexpr std::string_view kCandidateFile = "candidate.cc";
inline constexpr std::string_view kHeaderFile = "task.h";

inline constexpr size_t kMaxDiagnostics = 32;
inline constexpr size_t kMaxDiagnosticBytes = 600;  // one message
inline constexpr size_t kMaxLogBytes = 16 * 1024;

// Parses the output of the compiler driver (g++ in the C locale, without carets), the assembler and the linker.
//
// Errors come first, in the compiler's order, each with at most three notes behind it; then warnings. An error inside a
// header of the system is reported at the line of candidate.cc or task.h that led there, with the header in its
// message.
std::vector<Diagnostic> ParseDiagnostics(std::string_view output);

// True when `diagnostics` holds an error: then no compiler that printed them can have succeeded.
bool HasError(const std::vector<Diagnostic>& diagnostics);

// The output for people: cleaned, temporary names replaced, at most kMaxLogBytes; what is cut is said at the end.
std::string TrimLog(std::string_view output);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BUILD_DIAGNOSTICS_H_

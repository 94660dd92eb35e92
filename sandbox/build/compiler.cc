#include "sandbox/build/compiler.h"

#include <gnu/libc-version.h>
#include <signal.h>

#include <algorithm>
#include <array>

#include "base/memfd.h"
#include "sandbox/build/box_output.h"
#include "sandbox/build/diagnostics.h"
#include "sandbox/build/text.h"

namespace touchstone {
namespace {

constexpr std::string_view kArtifactName = "out.so";
constexpr std::chrono::seconds kVersionTimeout{10};
constexpr std::chrono::seconds kKillTimeout{10};

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return Contains(text, part); });
}

// The driver's own words about a tool that a signal has ended: "g++: fatal error: Killed signal terminated program …",
// and those of its helper: "collect2: fatal error: ld terminated with signal 9 [Killed]".
std::string_view DriverDeathNotice(std::string_view output) {
  for (const std::string_view mark : {" signal terminated program ", " terminated with signal "}) {
    for (size_t at = 0; (at = output.find(mark, at)) != std::string_view::npos; at += mark.size()) {
      const size_t newline = output.rfind('\n', at);
      const size_t start = newline == std::string_view::npos ? 0 : newline + 1;
      const std::string_view line = output.substr(start, output.find('\n', at) - start);
      if (Contains(line.substr(0, line.find(": ")), "g++") || line.starts_with("collect2: ")) return line;
    }
  }
  return {};
}

std::string FirstLine(const std::string& text) { return Shorten(CleanText(text.substr(0, text.find('\n'))), 200); }

std::vector<std::string> ArchitectureFlags() {
#if defined(__x86_64__)
  // Every CPU with these three is an x86-64-v3 one.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    return {"-march=x86-64-v3"};
  }
#endif
  return {};
}

Limits CompileLimits(const BuildOptions& options) {
  Limits limits;
  limits.memory_bytes = options.memory_bytes;
  limits.processes = 64;
  limits.cpu_time = std::chrono::ceil<std::chrono::seconds>(options.timeout);
  limits.file_bytes = 2 * options.artifact_bytes;  // objects are larger than the artifact made of them
  limits.tmp_bytes = 4 * options.artifact_bytes;
  return limits;
}

}  // namespace

BuildOutcome::Kind Classify(const CompilerRun& run, const std::vector<Diagnostic>& diagnostics) {
  using Kind = BuildOutcome::Kind;
  if (run.outcome.out_of_memory) return Kind::kOutOfMemory;
  if (run.timed_out) return Kind::kTimeout;
  if (run.output_cut) return HasError(diagnostics) ? Kind::kCompileError : Kind::kTooLarge;
  if (run.outcome.kind != Outcome::Kind::kExited) {
    return run.outcome.kind == Outcome::Kind::kSignalled && run.outcome.signal == SIGXCPU ? Kind::kTimeout
                                                                                          : Kind::kCrashed;
  }
  if (run.outcome.code == 0) {
    if (run.artifact_refused) return Kind::kTooLarge;
    return run.artifact.empty() ? Kind::kCrashed : Kind::kBuilt;
  }
  if (const std::string_view notice = DriverDeathNotice(run.output); !notice.empty()) {
    if (Contains(notice, "CPU time limit exceeded")) return Kind::kTimeout;
    if (Contains(notice, "File size limit exceeded")) return Kind::kTooLarge;
    return Kind::kCrashed;
  }
  const bool tools_failed = std::none_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) {
    return d.line > 0 && (d.severity == "error" || d.severity == "fatal error");
  });
  // Where no cgroup counts memory, the tools meet the limit themselves.
  if (tools_failed && ContainsAny(run.output, {"out of memory", "memory exhausted", "Cannot allocate memory"})) {
    return Kind::kOutOfMemory;
  }
  if (tools_failed && ContainsAny(run.output, {"No space left on device", "File too large"})) return Kind::kTooLarge;
  if (Contains(run.output, ": internal compiler error: ")) return Kind::kCrashed;
  return HasError(diagnostics) ? Kind::kCompileError : Kind::kCrashed;
}

Result<Compiler> Compiler::Find(Spawner& spawner, const BuildOptions& options) {
  TOUCHSTONE_ASSIGN(Toolchain tools, Toolchain::Find());
  Compiler compiler(std::move(tools), options);
  std::string versions;
  for (const std::string& tool : {compiler.tools_.compiler, compiler.tools_.linker}) {
    TOUCHSTONE_ASSIGN(const CompilerRun run, compiler.RunInBox(spawner, {tool, "--version"}, {}, ""));
    if (run.outcome.kind != Outcome::Kind::kExited || run.outcome.code != 0) {
      return Error(ErrorCode::kUnavailable,
                   tool + " --version in a box: " + run.outcome.ToString() + ": " + FirstLine(run.output));
    }
    versions += FirstLine(run.output) + ", ";
  }
  compiler.toolchain_ = versions + "glibc " + ::gnu_get_libc_version();
  compiler.identity_ = compiler.toolchain_;
  for (const std::string& argument : compiler.Arguments(BuildRequest())) compiler.identity_ += '\n' + argument;
  return compiler;
}

std::vector<std::string> Compiler::Arguments(const BuildRequest& request) const {
  std::vector<std::string> argv = {tools_.compiler, "-std=c++20", "-O3"};
  const std::vector<std::string> architecture = ArchitectureFlags();
  argv.insert(argv.end(), architecture.begin(), architecture.end());
  argv.insert(argv.end(), request.extra_flags.begin(), request.extra_flags.end());
  for (const char* flag : {"-fPIC",
                           "-shared",
                           "-fvisibility=hidden",
                           "-g0",
                           "-pipe",
                           "-frandom-seed=touchstone",
                           "-fno-diagnostics-color",
                           "-fno-diagnostics-show-caret",
                           "-fmax-errors=20",
                           "-Wl,-z,defs",
                           "-Wl,-z,now",
                           "-Wl,--require-defined=run",
                           "-Wl,-s",
                           "-Wl,--build-id=none",
                           "-include",
                           "/proc/self/fd/4",
                           "-x",
                           "c++",
                           "/proc/self/fd/3",
                           "-o"}) {
    argv.emplace_back(flag);
  }
  argv.emplace_back(kArtifactName);
  return argv;
}

Result<CompilerRun> Compiler::Run(Spawner& spawner, const BuildRequest& request) const {
  const auto named = [](std::string_view name, const std::string& text) {
    return "#line 1 \"" + std::string(name) + "\"\n" + text;
  };
  TOUCHSTONE_ASSIGN(const UniqueFd source, CreateSealedMemfd("source", named(kCandidateFile, request.source)));
  TOUCHSTONE_ASSIGN(const UniqueFd header, CreateSealedMemfd("header", named(kHeaderFile, request.header)));
  const std::array<int, 2> fds = {source.get(), header.get()};
  return RunInBox(spawner, Arguments(request), fds, std::string(kArtifactName));
}

Result<CompilerRun> Compiler::RunInBox(Spawner& spawner, std::vector<std::string> argv, std::span<const int> fds,
                                       const std::string& artifact) const {
  const bool build = !artifact.empty();
  Program program;
  program.argv = std::move(argv);
  program.environment = {"PATH=/usr/bin", "LC_ALL=C", "TMPDIR=/tmp", "SOURCE_DATE_EPOCH=0"};
  program.capture_output = true;
  const auto deadline = std::chrono::steady_clock::now() + (build ? options_.timeout : kVersionTimeout);
  Policy policy;
  policy.minimum_level = options_.minimum_level;
  policy.allow_exec = true;
  policy.disable_for_tests = options_.disable_for_tests;
  policy.binds = tools_.binds;
  TOUCHSTONE_ASSIGN(Box box, spawner.Start(policy, CompileLimits(options_), program, fds));
  TOUCHSTONE_ASSIGN(BoxOutput output, CollectOutput(box, kMaxCompilerOutputBytes, deadline));
  if (output.cut || output.timed_out) box.Kill();

  CompilerRun run;
  TOUCHSTONE_ASSIGN(run.outcome, box.Wait(kKillTimeout));
  if (run.outcome.kind == Outcome::Kind::kKilled && !output.cut && !output.timed_out && !run.outcome.out_of_memory) {
    return Error(ErrorCode::kUnavailable, "a compile box died, perhaps with its spawner");
  }
  run.timed_out = output.timed_out;
  run.output_cut = output.cut;
  run.output = std::move(output.text);
  if (build && run.outcome.kind == Outcome::Kind::kExited && run.outcome.code == 0) {
    auto taken = box.TakeArtifact(artifact, options_.artifact_bytes);
    if (taken.ok()) {
      TOUCHSTONE_ASSIGN(run.artifact, ReadAll(taken->get(), options_.artifact_bytes));
    } else if (taken.error().code() == ErrorCode::kInvalidArgument) {
      run.artifact_refused = true;
    } else if (taken.error().code() != ErrorCode::kNotFound) {
      return taken.error().Within("taking the artifact");
    }
  }
  TOUCHSTONE_RETURN_IF_ERROR(box.Destroy());
  return run;
}

}  // namespace touchstone

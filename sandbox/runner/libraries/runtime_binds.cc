#include "sandbox/runner/libraries/runtime_binds.h"

#include <algorithm>
#include <filesystem>

#include "sandbox/runner/libraries/command.h"
#include "sandbox/runner/libraries/elf_interpreter.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

constexpr char kLoaderCache[] = "/etc/ld.so.cache";
// What g++ links a candidate with; the last three are empty in new C libraries and real in old ones.
constexpr char kCandidateLibraries[] =
    "libc.so.6 libm.so.6 libmvec.so.1 libstdc++.so.6 libgcc_s.so.1 libgomp.so.1 libpthread.so.0 libdl.so.2 librt.so.1";

void AddBind(const std::string& path, std::vector<Bind>& binds) {
  // A box has no links: what it makes of ".." is what the text says.
  const std::string target = fs::path(path).lexically_normal();
  const bool known = std::any_of(binds.begin(), binds.end(), [&](const Bind& bind) { return bind.target == target; });
  if (known) return;
  std::error_code error;
  const fs::path source = fs::canonical(path, error);
  binds.push_back({error ? path : source.string(), target, false});
}

}  // namespace

Result<std::vector<std::string>> ParseLoaderList(std::string_view output) {
  std::vector<std::string> paths;
  while (!output.empty()) {
    const size_t end = std::min(output.find('\n'), output.size());
    std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    while (!line.empty() && (line.front() == '\t' || line.front() == ' ')) line.remove_prefix(1);
    if (line.ends_with("=> not found") || line.starts_with("ERROR: ")) {
      return Error(ErrorCode::kUnavailable, std::string(line));
    }
    // "NAME => PATH (0x…)", "PATH (0x…)"; the kernel's own library has no path.
    if (const size_t arrow = line.find(" => "); arrow != std::string_view::npos) line.remove_prefix(arrow + 4);
    const size_t address = line.rfind(" (0x");
    if (address == std::string_view::npos || line.front() != '/') continue;
    paths.emplace_back(line.substr(0, address));
  }
  return paths;
}

Result<std::vector<Bind>> RuntimeBinds(const std::string& program) {
  if (!program.starts_with('/')) return Error(ErrorCode::kInvalidArgument, "program '" + program + "': not absolute");
  TOUCHSTONE_ASSIGN(const std::string loader, ElfInterpreter(program));
  std::vector<Bind> binds;
  AddBind(program, binds);
  if (loader.empty()) return binds;
  AddBind(loader, binds);
  const std::vector<std::string> tail = {"--preload", kCandidateLibraries, "--list", program};
  const auto list = [&](std::vector<std::string> head) {
    head.insert(head.end(), tail.begin(), tail.end());
    return RunCommand(head);
  };
  TOUCHSTONE_ASSIGN(const CommandResult listed, list({loader}));
  if (!listed.succeeded) return Error(ErrorCode::kUnavailable, "libraries of " + program + ": " + listed.output);
  TOUCHSTONE_ASSIGN(const std::vector<std::string> paths, ParseLoaderList(listed.output));
  for (const std::string& path : paths) AddBind(path, binds);

  // A library outside the loader's own folders that no RPATH names is known to the loader's cache only.
  TOUCHSTONE_ASSIGN(const CommandResult without_cache, list({loader, "--inhibit-cache"}));
  const auto same = without_cache.succeeded ? ParseLoaderList(without_cache.output)
                                            : Result<std::vector<std::string>>(std::vector<std::string>());
  if (!same.ok() || *same != paths) binds.push_back({kLoaderCache, kLoaderCache, false});
  return binds;
}

}  // namespace touchstone

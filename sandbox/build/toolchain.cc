#include "sandbox/build/toolchain.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "sandbox/runner/libraries/command.h"
#include "sandbox/runner/libraries/runtime_binds.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

constexpr char kBinFolder[] = "/usr/bin/";
// What a link needs of libc besides the shared libraries; not every version of it has all of them.
constexpr std::array<const char*, 11> kLinkFiles = {"crti.o",  "crtn.o",  "libc.so",   "libc_nonshared.a",
                                                    "libm.so", "libm.a",  "libmvec.a", "libpthread.a",
                                                    "libdl.a", "librt.a", "libmvec.so"};

// The answer of `g++ -print-…`, without links.
Result<std::string> Ask(const std::string& compiler, const std::string& question) {
  TOUCHSTONE_ASSIGN(const CommandResult answer, RunCommand({compiler, question}));
  const std::string line = answer.output.substr(0, answer.output.find('\n'));
  std::error_code error;
  const fs::path path = fs::canonical(line, error);
  if (!answer.succeeded || error || !line.starts_with('/')) {
    return Error(ErrorCode::kUnavailable, compiler + " " + question + ": '" + line + "'; install g++");
  }
  return path.string();
}

void AddBind(const std::string& source, const std::string& target, std::vector<Bind>& binds) {
  const bool known = std::any_of(binds.begin(), binds.end(), [&](const Bind& bind) { return bind.target == target; });
  if (!known) binds.push_back({source, target, false});
}

// The tool and its libraries. On the host /lib and /usr/lib are one folder, in a box they are not: the loader looks
// into both, gcc's own links lead to /usr/lib, and the linker's scripts name these three below /lib.
Status AddTool(const std::string& path, std::vector<Bind>& binds) {
  constexpr std::array<std::string_view, 3> kInScripts = {"libc.so.6", "libm.so.6", "libmvec.so.1"};
  TOUCHSTONE_ASSIGN(const std::vector<Bind> needed, RuntimeBinds(path));
  for (const Bind& bind : needed) {
    const bool below_lib = bind.target.starts_with("/lib/");
    const std::string name = fs::path(bind.target).filename();
    const bool in_script = std::find(kInScripts.begin(), kInScripts.end(), name) != kInScripts.end();
    if (!below_lib || in_script) AddBind(bind.source, bind.target, binds);
    if (below_lib) AddBind(bind.source, "/usr" + bind.target, binds);
  }
  return {};
}

}  // namespace

Result<Toolchain> Toolchain::Find() {
  Toolchain toolchain;
  std::error_code error;
  toolchain.compiler = fs::canonical(std::string(kBinFolder) + "g++", error);
  if (error) return Error(ErrorCode::kUnavailable, "/usr/bin/g++: " + error.message() + "; install g++");
  toolchain.linker = std::string(kBinFolder) + "ld";
  TOUCHSTONE_ASSIGN(const std::string library, Ask(toolchain.compiler, "-print-file-name=libgcc.a"));
  TOUCHSTONE_ASSIGN(const std::string compiler_proper, Ask(toolchain.compiler, "-print-prog-name=cc1plus"));

  std::vector<Bind>& binds = toolchain.binds;
  AddBind("/usr/include", "/usr/include", binds);
  for (const fs::path& file : {fs::path(library), fs::path(compiler_proper)}) {
    const std::string folder = file.parent_path();
    AddBind(folder, folder, binds);
  }
  for (const std::string& tool : {toolchain.compiler, std::string(kBinFolder) + "as", toolchain.linker}) {
    TOUCHSTONE_RETURN_IF_ERROR(AddTool(tool, binds));
  }
  // cc1plus itself lies in a folder that is bound already: only its libraries count.
  std::vector<Bind> proper;
  TOUCHSTONE_RETURN_IF_ERROR(AddTool(compiler_proper, proper));
  for (const Bind& bind : proper) {
    if (bind.target != compiler_proper) AddBind(bind.source, bind.target, binds);
  }
  TOUCHSTONE_ASSIGN(const std::string start_file, Ask(toolchain.compiler, "-print-file-name=crti.o"));
  for (const char* name : kLinkFiles) {
    const fs::path target = fs::path(start_file).parent_path() / name;
    const fs::path source = fs::canonical(target, error);
    if (!error) AddBind(source, target, binds);
  }
  return toolchain;
}

}  // namespace touchstone

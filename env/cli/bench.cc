// touchstone bench: hands over to scripts/bench of the source tree.
#include <CLI/CLI.hpp>
#include <limits.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/program_folder.h"
#include "env/cli/command.h"

namespace touchstone::cli {
namespace {

constexpr char kExamples[] = R"(
Examples:
  touchstone bench
  touchstone bench -- --only box_start_ms eval_cpp_ms --json numbers.json
  touchstone bench -- --list)";

// scripts/bench in the first folder above this program that has it: programs lie in <tree>/build/<preset>/bin.
Result<std::string> FindScript() {
  std::error_code error;
  for (std::filesystem::path folder = ProgramFolder(); !folder.empty(); folder = folder.parent_path()) {
    const auto script = folder / "scripts" / "bench";
    if (std::filesystem::exists(script, error)) return script.string();
    if (folder == folder.root_path()) break;
  }
  return Error(ErrorCode::kNotFound, "scripts/bench: benches are run from a build inside the source tree");
}

ExitCode Bench(std::vector<std::string> arguments) {
  auto script = FindScript();
  if (!script.ok()) return Fail(script.error());
  std::vector<char*> argv{script->data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv(script->c_str(), argv.data());
  return Fail(ErrnoError("starting " + *script));
}

}  // namespace

void AddBenchCommand(CLI::App& program, Action& action) {
  auto arguments = std::make_shared<std::vector<std::string>>();
  CLI::App* command = program.add_subcommand("bench", "Measure the project's own numbers (scripts/bench)");
  command->footer(kExamples);
  command->add_option("arguments", *arguments, "Arguments of scripts/bench, after --");
  command->callback([arguments, &action] { action = [arguments] { return Bench(*arguments); }; });
}

}  // namespace touchstone::cli

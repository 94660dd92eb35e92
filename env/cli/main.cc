// The program `touchstone`. One file a command; this one parses the arguments and calls the one that was chosen.
#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <string>

#include "env/cli/command.h"

namespace touchstone::cli {
namespace {

constexpr char kExamples[] = R"(
Examples:
  touchstone tasks list
  touchstone eval softmax mine.cc
  touchstone eval softmax a.cc b.cc --json results.jsonl
  touchstone doctor

Exit codes: 0 all well; 1 done, and the answer is no (a candidate is not successful); 2 bad arguments or input;
3 the environment failed, which says nothing about any candidate.)";

// Results go to standard output, everything else to standard error, so that output can be piped.
void SetUpLog(const std::string& level) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("touchstone"));
  spdlog::set_pattern("%H:%M:%S.%e %^%l%$ %v");
  spdlog::set_level(spdlog::level::from_str(level));
}

int Main(int argc, char** argv) {
  CLI::App program("Touchstone: says whether a kernel is right, how fast it is, and whether it is honest.",
                   "touchstone");
  program.footer(kExamples);
  program.require_subcommand(1);
  program.set_version_flag("--version", "touchstone " TOUCHSTONE_VERSION);
  std::string log_level = "warning";
  program.add_option("--log-level", log_level, "What goes to standard error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}))
      ->capture_default_str();

  Action action;
  AddEvalCommand(program, action);
  AddTasksCommand(program, action);
  AddDoctorCommand(program, action);
  AddCalibrateCommand(program, action);
  AddReproduceCommand(program, action);
  AddReplayCommand(program, action);
  AddBenchCommand(program, action);
  AddServeCommand(program, action);
  AddKeysCommand(program, action);

  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? kExitSuccess : kExitUsage;
  }
  SetUpLog(log_level);
  return action();
}

}  // namespace
}  // namespace touchstone::cli

int main(int argc, char** argv) {
  try {
    return touchstone::cli::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "touchstone: unexpected: %s\n", error.what());
    return touchstone::cli::kExitEnvironment;
  }
}

// touchstone doctor: layer by layer what this host can give to boxes, and how to get what is missing.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "env/cli/command.h"
#include "env/cli/table.h"
#include "sandbox/box/probe.h"

namespace touchstone::cli {
namespace {

constexpr char kExamples[] = R"(
Examples:
  touchstone doctor
  touchstone doctor --level reduced      is at least this level there?

Exit codes: 0 the level that was asked for is reached; 1 it is not.)";

ExitCode Doctor(const std::string& wanted) {
  const std::vector<LayerReport> reports = ProbeHost();
  Table table({{"layer"}, {"here"}, {"for full"}, {"detail"}});
  std::string remedies;
  for (const LayerReport& report : reports) {
    const std::string name(ToString(report.layer));
    table.Add({name, report.available ? "yes" : "no", report.needed_for_full ? "needed" : "", OneLine(report.detail)});
    if (!report.available && !report.remedy.empty()) remedies += "  " + name + ": " + OneLine(report.remedy) + "\n";
  }
  std::fputs(table.ToString().c_str(), stdout);
  if (!remedies.empty()) std::printf("\nHow to get what is missing:\n%s", remedies.c_str());
  const Level level = LevelOf(reports);
  std::printf("\nBoxes reach level '%s' here.\n", std::string(ToString(level)).c_str());
  return level >= LevelFromString(wanted).value_or(Level::kFull) ? kExitSuccess : kExitNotSuccessful;
}

}  // namespace

void AddDoctorCommand(CLI::App& program, Action& action) {
  auto level = std::make_shared<std::string>("full");
  CLI::App* command =
      program.add_subcommand("doctor", "What isolation this host gives, and how to get what is missing");
  command->footer(kExamples);
  command->add_option("--level", *level, "Level that should be reached")
      ->check(CLI::IsMember({"full", "reduced", "none"}))
      ->capture_default_str();
  command->callback([level, &action] { action = [level] { return Doctor(*level); }; });
}

}  // namespace touchstone::cli

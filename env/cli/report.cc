#include "env/cli/report.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "env/cli/table.h"

namespace touchstone::cli {
namespace {

constexpr int kDiagnosticLines = 12;

// "/a/b/c.cc" → "c.cc": the table has to fit on a screen.
std::string BaseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

std::string FormatSpeedup(const EvalResult& result) {
  const SpeedupEstimate& estimate = result.speedup;
  if (!(estimate.speedup > 0)) return "–";
  char text[96];
  if (estimate.interval_stated) {
    std::snprintf(text, sizeof(text), "%.3g× [%.4g, %.4g]", estimate.speedup, estimate.lower, estimate.upper);
    return text;
  }
  std::snprintf(text, sizeof(text), "%.3g×", estimate.speedup);
  return text + std::string(" (no interval)");
}

std::string FormatTable(const std::vector<Record>& records) {
  using Align = Table::Align;
  Table table(
      {{"candidate"}, {"status"}, {"speedup"}, {"baseline", Align::kRight}, {"candidate", Align::kRight}, {"reason"}});
  for (const Record& record : records) {
    const EvalResult& result = record.result;
    const bool timed = result.candidate_us > 0;
    table.Add({OneLine(BaseName(record.submission.file)), std::string(ToString(result.status)), FormatSpeedup(result),
               timed ? FormatMicroseconds(result.baseline_us) : "–",
               timed ? FormatMicroseconds(result.candidate_us) : "–", OneLine(result.reason)});
  }
  return table.ToString();
}

std::string FormatDetails(const Record& record) {
  std::string text;
  for (const Evidence& evidence : record.result.evidence) {
    if (evidence.severity == Evidence::Severity::kInfo) continue;
    text += "  " + std::string(ToString(evidence.severity)) + ": " + evidence.id + ": " +
            OneLine(evidence.explanation) + '\n';
  }
  const SpeedupEstimate& estimate = record.result.speedup;
  if (estimate.speedup > 0 && !estimate.interval_stated) text += "  no interval: " + OneLine(estimate.reason) + '\n';
  std::istringstream lines(record.result.diagnostics);
  std::string line;
  for (int i = 0; std::getline(lines, line); ++i) {
    if (i == kDiagnosticLines) {
      text += "  … (the whole text is in the record: --json)\n";
      break;
    }
    text += "  " + OneLine(line) + '\n';
  }
  return text.empty() ? text : OneLine(record.submission.file) + ":\n" + text;
}

ExitCode ExitCodeOf(const std::vector<Record>& records) {
  const auto any = [&](auto predicate) {
    return std::any_of(records.begin(), records.end(), [&](const Record& record) { return predicate(record.result); });
  };
  if (any([](const EvalResult& result) { return result.fault() == Fault::kEnvironment; })) return kExitEnvironment;
  if (any([](const EvalResult& result) { return result.status != EvalStatus::kSuccess; })) return kExitNotSuccessful;
  return kExitSuccess;
}

}  // namespace touchstone::cli

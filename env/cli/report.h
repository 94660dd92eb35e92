// Results as people read them.
#ifndef TOUCHSTONE_ENV_CLI_REPORT_H_
#define TOUCHSTONE_ENV_CLI_REPORT_H_

#include <string>
#include <vector>

#include "env/cli/command.h"
#include "env/cli/submission.h"
#include "reward/result.h"

namespace touchstone::cli {

// "2.31× [2.27, 2.36]", "2.31× (no interval)", or "–" where nothing was timed.
std::string FormatSpeedup(const EvalResult& result);

// One row a record: candidate, status, speedup with interval, times of a call, reason.
std::string FormatTable(const std::vector<Record>& records);

// What does not fit into a row: compiler output, evidence that condemns or is suspicious, why there is no
// interval.
std::string FormatDetails(const Record& record);

// 3 when any evaluation failed by the environment, else 1 when any candidate was not successful, else 0.
ExitCode ExitCodeOf(const std::vector<Record>& records);

}  // namespace touchstone::cli

#endif  // TOUCHSTONE_ENV_CLI_REPORT_H_

#ifndef TOUCHSTONE_ENV_CLI_SESSION_H_
#define TOUCHSTONE_ENV_CLI_SESSION_H_

#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "env/cli/submission.h"
#include "reward/reward.h"

namespace touchstone::cli {

// Evaluates one submission on a slot. The task and the profile are those that the caller loaded from the submission's
// names. `key` as in EvalRequest.
Result<Record> EvaluateSubmission(Evaluator& evaluator, const Task& task, const MeasurementProfile& profile,
                                  Submission submission, const std::optional<SecretKey>& key = std::nullopt);

// "0a1b…" (64 digits) → key. kInvalidArgument.
Result<SecretKey> KeyFromHex(const std::string& hex);

}  // namespace touchstone::cli

#endif  // TOUCHSTONE_ENV_CLI_SESSION_H_

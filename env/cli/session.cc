#include "env/cli/session.h"

#include <utility>

namespace touchstone::cli {
namespace {

int DigitValue(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

Result<Record> EvaluateSubmission(Evaluator& evaluator, const Task& task, const MeasurementProfile& profile,
                                  Submission submission, const std::optional<SecretKey>& key) {
  EvalRequest request;
  request.task = &task;
  request.size = submission.size;
  request.interface_name = submission.interface_name;
  request.source = submission.source;
  request.baseline_source = submission.baseline_source;
  request.profile = profile;
  request.key = key;
  TOUCHSTONE_ASSIGN(EvalResult result, evaluator.Evaluate(request));
  return Record{std::move(result), std::move(submission)};
}

Result<SecretKey> KeyFromHex(const std::string& hex) {
  SecretKey key{};
  if (hex.size() != 2 * key.size()) return Error(ErrorCode::kInvalidArgument, "key_hex: not 64 digits");
  for (size_t i = 0; i < key.size(); ++i) {
    const int high = DigitValue(hex[2 * i]);
    const int low = DigitValue(hex[2 * i + 1]);
    if (high < 0 || low < 0) return Error(ErrorCode::kInvalidArgument, "key_hex: not hexadecimal");
    key[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return key;
}

}  // namespace touchstone::cli

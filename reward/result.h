// The full record of one evaluation (design: V15). docs/result.md explains every field.
#ifndef TOUCHSTONE_REWARD_RESULT_H_
#define TOUCHSTONE_REWARD_RESULT_H_

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reward/verdict/compare.h"
#include "reward/verdict/statistics.h"

namespace touchstone {

// The one status of an evaluation. The names travel on the wire and into the store: do not change them.
enum class EvalStatus {
  kFormatError,
  kRejectedStatic,
  kCompileError,
  kLoadError,
  kRuntimeError,
  kTimeout,
  kOutOfMemory,
  kIncorrect,
  kCheating,
  kBelowFloor,
  kSuccess,
  kUnstable,
  kUnverified,
  kEnvironmentError,
  kCancelled,
  kDeadline,
};
std::string_view ToString(EvalStatus status);
std::optional<EvalStatus> EvalStatusFromString(std::string_view name);

enum class Fault { kNone, kCandidate, kEnvironment };
std::string_view ToString(Fault fault);
Fault FaultOf(EvalStatus status);

// A finding, measured or static. Only severity `condemns` decides anything.
struct Evidence {
  enum class Severity { kInfo, kSuspicious, kCondemns };
  std::string id;  // "input_mutated", "output_not_written", …
  Severity severity = Severity::kInfo;
  std::string explanation;
  std::map<std::string, double> numbers;
};
std::string_view ToString(Evidence::Severity severity);

// One correctness trial on one output.
struct TrialRecord {
  std::string kind;  // "declared", "hidden_shape", "hidden_distribution", "window", "solo"
  int trial = 0;
  std::string output;
  CompareReport candidate;
  CompareReport reference;  // the reference against the oracle, where there is one
};

struct RoundRecord {
  int start = 0;  // which fresh candidate process
  int round = 0;
  bool solo = false;  // K = 1
  int calls = 0;      // K
  bool baseline_first = false;
  bool is_void = false;
  std::string void_reason;
  double baseline_us = 0;  // a call
  double candidate_us = 0;
  double baseline_handover_us = 0;  // thaw and ping before the doorbell
  double candidate_handover_us = 0;
  double candidate_cpu_us = 0;  // CPU time of the box over the window
};

struct EvalResult {
  int schema = 1;
  std::string id;
  EvalStatus status = EvalStatus::kEnvironmentError;
  std::string reason;  // one sentence for people; never an expected value
  std::string phase;   // where it ended: "compile", "load", "correctness", "measure", "verdict"

  std::string task;
  std::string task_hash;
  std::map<std::string, int64_t> dims;
  std::string interface_name;
  std::string candidate_hash;
  std::string artifact_hash;
  std::string baseline;  // "reference", or the hash of a candidate source
  std::string profile;

  SpeedupEstimate speedup;          // of the windows
  double solo_upper_bound = 0;      // V8; 0 when no solo was run
  double rewarded_speedup = 0;      // min(window estimate, solo bound), 0 unless success
  double rewarded_lower_bound = 0;  // the same with the interval's lower end
  double baseline_us = 0;           // medians a call
  double baseline_alone_us = 0;     // measured before candidate code was loaded (V7)
  double baseline_after_us = 0;     // measured once the candidate was gone; 0 unknown
  double candidate_us = 0;
  double floor_us = 0;  // V10; 0 unknown
  bool resolution_limited = false;
  bool launch_bound = false;
  std::string cache_state;  // "hot", "cold"

  std::vector<TrialRecord> trials;
  std::vector<RoundRecord> rounds;
  std::vector<Evidence> evidence;
  std::map<std::string, double> budget_ms;         // where the time went
  std::map<std::string, double> calibration;       // null window, handover bounds, …
  std::map<std::string, std::string> environment;  // versions, host, cores, clock
  std::string level;                               // of the candidate's boxes: "full", "reduced", "none"
  std::vector<std::string> layers;                 // active ones
  std::string key_hex;                             // the judge's key of this evaluation, for touchstone reproduce
  std::string diagnostics;                         // trimmed compiler output or load error, when that was the end
  std::string record_time;                         // UTC, ISO 8601

  Fault fault() const { return FaultOf(status); }
};

nlohmann::json ToJson(const EvalResult& result);
// kInvalidArgument names the field.
Result<EvalResult> EvalResultFromJson(const nlohmann::json& json);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_RESULT_H_

#ifndef TOUCHSTONE_REWARD_JUDGE_PROFILE_H_
#define TOUCHSTONE_REWARD_JUDGE_PROFILE_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace touchstone {

// How one evaluation is measured (design §8). Filled from configs/measurement/<name>.yaml; unknown keys are errors.
struct MeasurementProfile {
  std::string name = "quick";

  // Correctness.
  int trials = 3;  // with the declared distributions and size
  int hidden_shape_trials = 2;
  bool hidden_distributions = true;

  // Timing; rounds = 0: correctness only.
  int min_rounds = 8;  // for each start
  int max_rounds = 24;
  int solo_rounds = 30;                    // over all starts
  int starts = 1;                          // fresh candidate processes
  std::chrono::microseconds window{4000};  // aimed length; grows until the hand-shake is ≤ 1 % of it
  double target_half_width = 0.02;         // stop early when the interval is this narrow
  double confidence = 0.95;
  std::string cache = "cold";  // "cold": sets rotate through more than the last-level cache; "hot": they fit
  bool random_order = true;
  // `unstable` is measured once more with fresh processes before it is scored by its lower bound (design: V13).
  bool measure_unstable_again = true;

  // Limits.
  double runtime_cap = 1000;  // times the reference
  std::chrono::milliseconds load_timeout{10'000};
  std::chrono::milliseconds call_timeout{10'000};
  std::chrono::milliseconds total_budget{60'000};
  uint64_t block_bytes = uint64_t{512} << 20;
  uint64_t memory_bytes = uint64_t{2} << 30;  // of a candidate's box, its block not counted
};

// A path of a YAML file, or the name of a shipped profile: check, quick, standard, strict, cuda_l1. Errors name file,
// line and key: "quick.yaml:7: starts: must be between 1 and 64".
Result<MeasurementProfile> LoadProfile(const std::string& name_or_path);

// A flat map from keys to values; what it leaves out keeps its default.
Result<MeasurementProfile> ParseProfile(const std::string& yaml, const std::string& profile_name,
                                        const std::string& file_for_errors);
// The whole profile in the form that ParseProfile reads.
std::string RenderProfile(const MeasurementProfile& profile);

// The folder of the shipped configurations: $TOUCHSTONE_CONFIGS, else ../share/touchstone/configs (installed) or
// ../../../configs (build/<preset>/bin) from this program, else configs/ of the source tree it was built from.
std::string DefaultConfigFolder();

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_PROFILE_H_

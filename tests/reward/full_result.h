#ifndef TOUCHSTONE_TESTS_REWARD_FULL_RESULT_H_
#define TOUCHSTONE_TESTS_REWARD_FULL_RESULT_H_

#include <cstdint>
#include <limits>

#include "reward/result.h"

namespace touchstone {

inline CompareReport FullReport(uint64_t first) {
  return {.count = first,
          .mismatches = first + 1,
          .nonfinite_mismatches = first + 2,
          .first_mismatch = first + 3,
          .max_abs = 0.1,
          .max_rel = 1e-300,
          .rms_error = 5e-324,
          .rms_expected = 1.0 / 3,
          .rms_exceeded = true};
}

// Every field has a value of its own, unlike its default.
inline EvalResult FullResult() {
  EvalResult r;
  r.id = "e-1";
  r.status = EvalStatus::kIncorrect;
  r.reason = "3 of 8 elements";
  r.phase = "correctness";
  r.task = "softmax";
  r.task_hash = "aa";
  r.dims = {{"n", int64_t{1} << 40}, {"m", -1}};
  r.interface_name = "cpp";
  r.candidate_hash = "bb";
  r.artifact_hash = "cc";
  r.baseline = "reference";
  r.profile = "strict";
  r.speedup = {.speedup = 1.5,
               .lower = 1.25,
               .upper = 1.75,
               .half_width = 0.1,
               .standard_error = 0.2,
               .within_start_sd = 0.3,
               .between_start_sd = 0.4,
               .autocorrelation = -0.5,
               .interval_stated = true,
               .reason = "because"};
  r.solo_upper_bound = 2;
  r.rewarded_speedup = 3;
  r.rewarded_lower_bound = 4;
  r.baseline_us = 5;
  r.baseline_alone_us = 6;
  r.baseline_after_us = 6.5;
  r.candidate_us = 7;
  r.floor_us = 8.5;
  r.resolution_limited = true;
  r.launch_bound = true;
  r.cache_state = "hot";
  r.trials = {{"declared", 1, "y", FullReport(10), FullReport(20)},
              {"solo", 2, "z", FullReport(std::numeric_limits<uint64_t>::max() - 3), FullReport(0)}};
  r.rounds = {{.start = 1,
               .round = 2,
               .solo = true,
               .calls = 3,
               .baseline_first = true,
               .is_void = true,
               .void_reason = "late",
               .baseline_us = 4,
               .candidate_us = 5,
               .baseline_handover_us = 6,
               .candidate_handover_us = 7,
               .candidate_cpu_us = 8}};
  r.evidence = {{"input_mutated", Evidence::Severity::kCondemns, "it wrote", {{"elements", 7}}},
                {"slow", Evidence::Severity::kSuspicious, "…", {}}};
  r.budget_ms = {{"compile", 1.5}};
  r.calibration = {{"null_window_us", 2.5}};
  r.environment = {{"cpu", "x"}};
  r.level = "full";
  r.layers = {"uid", "seccomp"};
  r.key_hex = "dd";
  r.diagnostics = "a.cc:1: error\n\"quoted\"\t\x01";
  r.record_time = "2026-12-01T00:00:00Z";
  return r;
}

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_REWARD_FULL_RESULT_H_

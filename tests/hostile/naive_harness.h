// How kernels are usually judged, with the usual faults: the control of the hostile tests. What it accepts or rewards
// shows that a candidate is a working attack, and not only a wrong program.
//
//   - candidate, inputs, expected values, clock and verdict share one process, whose exit code 0 means "passed";
//   - inputs are made once, and the output's memory still holds the reference's answer;
//   - only the first call is checked, at leisure, on a sample, against a loose tolerance, with a comparison that NaN
//     passes;
//   - it times calls one by one on the same inputs and keeps the best.
#ifndef TOUCHSTONE_TESTS_HOSTILE_NAIVE_HARNESS_H_
#define TOUCHSTONE_TESTS_HOSTILE_NAIVE_HARNESS_H_

#include <string>

#include "base/result.h"

namespace touchstone {

struct NaiveVerdict {
  bool accepted = false;
  double best_us = 0;  // a call; 0 when the candidate left before the end
};

// Runs the shared object in a child process. `task` is add, matmul, row_sum or softmax. With `reference_last` expected
// values are computed after the candidate's call, from the inputs as they are then. Blocks for at most some seconds.
Result<NaiveVerdict> JudgeNaively(int artifact_fd, const std::string& task, bool reference_last);

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_HOSTILE_NAIVE_HARNESS_H_

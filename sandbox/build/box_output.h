#ifndef TOUCHSTONE_SANDBOX_BUILD_BOX_OUTPUT_H_
#define TOUCHSTONE_SANDBOX_BUILD_BOX_OUTPUT_H_

#include <chrono>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "sandbox/box/box.h"

namespace touchstone {

struct BoxOutput {
  std::string text;        // stdout and stderr as they came
  bool cut = false;        // there was more than the limit
  bool timed_out = false;  // the program still ran at the deadline
};

// Collects what the box's first program prints until it has ended, the limit is exceeded or the deadline has passed.
// Does not end the box.
Result<BoxOutput> CollectOutput(const Box& box, size_t max_bytes, std::chrono::steady_clock::time_point deadline);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BUILD_BOX_OUTPUT_H_

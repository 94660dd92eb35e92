#ifndef TOUCHSTONE_REWARD_VERDICT_BOOTSTRAP_H_
#define TOUCHSTONE_REWARD_VERDICT_BOOTSTRAP_H_

#include <cstdint>

#include "reward/verdict/noise.h"

namespace touchstone {

// Standard deviation of the median of all values when each start is drawn anew from its own blocks of `block`
// successive values (which wrap around at its end). A function of its arguments alone. Each resample costs a pass over
// the values, no sort.
double BootstrapSdOfMedian(const Series& series, int block, int resamples, uint64_t seed);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_VERDICT_BOOTSTRAP_H_

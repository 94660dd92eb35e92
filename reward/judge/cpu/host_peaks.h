#ifndef TOUCHSTONE_REWARD_JUDGE_CPU_HOST_PEAKS_H_
#define TOUCHSTONE_REWARD_JUDGE_CPU_HOST_PEAKS_H_

#include <cstdint>

namespace touchstone {

// What one core of this host can do at most, for floors (design: V10): measured here and then doubled, because a floor
// that is too low loses little and one that is too high condemns an honest kernel.
struct HostPeaks {
  double bandwidth_gb_s = 0;  // reading from the first-level caches
  double flops_gflop_s = 0;   // float32 multiply-add, the widest vectors there are
  uint64_t hot_bytes = 0;     // half of the second-level cache
};

// Takes about 20 ms of the calling core.
HostPeaks MeasureHostPeaks();

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_CPU_HOST_PEAKS_H_

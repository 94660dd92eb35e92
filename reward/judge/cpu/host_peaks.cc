#include "reward/judge/cpu/host_peaks.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "base/clones.h"

namespace touchstone {
namespace {

constexpr double kGenerosity = 2;
constexpr int kRepeats = 5;
constexpr size_t kLanes = 128;

// Sums `n` words, n a multiple of kLanes.
TOUCHSTONE_CLONES uint32_t SumWords(const uint32_t* words, size_t n) {
  uint32_t sums[kLanes] = {};
  for (size_t i = 0; i < n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += words[i + lane];
  }
  uint32_t total = 0;
  for (const uint32_t sum : sums) total += sum;
  return total;
}

TOUCHSTONE_CLONES float MultiplyAdd(int turns, float factor) {
  float values[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) values[lane] = static_cast<float>(lane);
  for (int turn = 0; turn < turns; ++turn) {
    for (size_t lane = 0; lane < kLanes; ++lane) values[lane] = values[lane] * factor + 1.0F;
  }
  float total = 0;
  for (const float value : values) total += value;
  return total;
}

// The best of some repeats: disturbances only make it slower.
template <typename Work>
double BestNanoseconds(Work work) {
  double best = 1e18;
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = RawClock::now();
    work();
    best = std::min(best, static_cast<double>((RawClock::now() - start).count()));
  }
  return best;
}

}  // namespace

HostPeaks MeasureHostPeaks() {
  HostPeaks peaks;
  constexpr size_t kBytes = 24 * 1024;
  constexpr int kPasses = 200;
  std::vector<uint32_t> words(kBytes / sizeof(uint32_t), 1);
  volatile uint32_t sum_sink = 0;
  const double sum_ns = BestNanoseconds([&] {
    for (int pass = 0; pass < kPasses; ++pass) sum_sink = sum_sink + SumWords(words.data(), words.size());
  });
  peaks.bandwidth_gb_s = kGenerosity * kBytes * kPasses / sum_ns;
  volatile float sink = 0;
  constexpr int kTurns = 20'000;
  const double multiply_ns = BestNanoseconds([&] { sink = sink + MultiplyAdd(kTurns, 0.5F); });
  peaks.flops_gflop_s = kGenerosity * 2.0 * kLanes * kTurns / multiply_ns;
  const long l2 = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  peaks.hot_bytes = static_cast<uint64_t>(l2 > 0 ? l2 : 1 << 20) / 2;
  return peaks;
}

}  // namespace touchstone

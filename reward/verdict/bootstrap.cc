#include "reward/verdict/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace touchstone {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): small, and the same on every machine.
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  uint32_t Below(size_t bound) { return static_cast<uint32_t>(((Next() >> 32) * bound) >> 32); }

 private:
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

// The median of a sample that is given as how often each of the sorted values is in it.
double MedianOfCounts(const std::vector<double>& sorted, const std::vector<uint32_t>& counts) {
  const size_t low_place = (sorted.size() - 1) / 2, high_place = sorted.size() / 2;
  size_t rank = 0, seen = counts[0];
  while (seen <= low_place) seen += counts[++rank];
  const double low = sorted[rank];
  while (seen <= high_place) seen += counts[++rank];
  return (low + sorted[rank]) / 2;
}

}  // namespace

double BootstrapSdOfMedian(const Series& series, int block, int resamples, uint64_t seed) {
  std::vector<double> values;
  for (const std::vector<double>& start : series) values.insert(values.end(), start.begin(), start.end());
  if (values.empty() || resamples < 2) return 0;
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return values[a] < values[b]; });
  std::vector<uint32_t> rank(values.size());
  std::vector<double> sorted(values.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
    sorted[i] = values[order[i]];
  }

  SplitMix random(seed);
  std::vector<uint32_t> counts(values.size());
  std::vector<double> medians(static_cast<size_t>(resamples));
  for (double& median : medians) {
    std::fill(counts.begin(), counts.end(), 0u);
    const uint32_t* ranks = rank.data();
    for (const std::vector<double>& start : series) {
      for (size_t drawn = 0; drawn < start.size();) {
        uint32_t at = random.Below(start.size());
        for (int i = 0; i < block && drawn < start.size(); ++i, ++drawn) {
          ++counts[ranks[at]];
          if (++at == start.size()) at = 0;
        }
      }
      ranks += start.size();
    }
    median = MedianOfCounts(sorted, counts);
  }
  const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / resamples;
  double squares = 0;
  for (const double median : medians) squares += (median - mean) * (median - mean);
  return std::sqrt(squares / (resamples - 1));
}

}  // namespace touchstone

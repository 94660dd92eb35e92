// How rounds that follow each other hang together: autocorrelation, trend, and what the former does to a mean.
#ifndef TOUCHSTONE_REWARD_VERDICT_NOISE_H_
#define TOUCHSTONE_REWARD_VERDICT_NOISE_H_

#include <span>
#include <vector>

namespace touchstone {

// A series for each start, in the order in which it was measured.
using Series = std::vector<std::vector<double>>;

struct Noise {
  double sd = 0;                  // of one value within its start
  double autocorrelation = 0;     // lag 1, corrected for the bias of short series; in [0, 0.95]
  double trend = 0;               // change over a start, common to all starts
  double trend_significance = 0;  // in standard errors, ≥ 0
};

// Values far from the median of their start (beyond three robust standard deviations) are pulled in first, so that
// single outliers neither hide nor feign a pattern.
Noise MeasureNoise(const Series& series);

// The variance of a mean of n values of an AR(1) process whose values have variance 1.
double VarianceOfMean(int n, double autocorrelation);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_VERDICT_NOISE_H_

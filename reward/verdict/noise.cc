#include "reward/verdict/noise.h"

#include <algorithm>
#include <cmath>

#include "reward/verdict/statistics.h"

namespace touchstone {
namespace {

constexpr double kMostAutocorrelation = 0.95;
constexpr double kMadToSd = 1.4826;  // of a normal distribution

double Mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Deviations from the median of each start, outliers pulled in, with mean 0 in each start.
Series Deviations(const Series& series) {
  Series deviations = series;
  std::vector<double> distances;
  for (std::vector<double>& start : deviations) {
    const double median = Median(start);
    for (double& value : start) distances.push_back(std::fabs(value -= median));
  }
  const double limit = 3 * kMadToSd * Median(std::move(distances));
  for (std::vector<double>& start : deviations) {
    if (limit > 0) {
      for (double& value : start) value = std::clamp(value, -limit, limit);
    }
    const double mean = Mean(start);
    for (double& value : start) value -= mean;
  }
  return deviations;
}

// Σ x_i x_(i+1) / Σ x_i² of what is left of the series when `slope` is taken out.
double LagOne(const Series& deviations, double slope) {
  double products = 0, squares = 0;
  for (const std::vector<double>& start : deviations) {
    const double middle = static_cast<double>(start.size() - 1) / 2;
    double before = 0;
    for (size_t i = 0; i < start.size(); ++i) {
      const double value = start[i] - slope * (static_cast<double>(i) - middle);
      products += before * value;
      squares += value * value;
      before = value;
    }
  }
  return squares > 0 ? products / squares : 0;
}

}  // namespace

Noise MeasureNoise(const Series& series) {
  const Series deviations = Deviations(series);
  double squares = 0, times_squared = 0, times_values = 0;
  size_t count = 0, longest = 0;
  for (const std::vector<double>& start : deviations) {
    const double middle = static_cast<double>(start.size() - 1) / 2;
    for (size_t i = 0; i < start.size(); ++i) {
      const double time = static_cast<double>(i) - middle;
      squares += start[i] * start[i];
      times_squared += time * time;
      times_values += time * start[i];
    }
    count += start.size();
    longest = std::max(longest, start.size());
  }
  Noise noise;
  const double starts = static_cast<double>(series.size());
  const double degrees = static_cast<double>(count) - starts;
  if (degrees > 0) noise.sd = std::sqrt(squares / degrees);
  const double n = static_cast<double>(count) / starts;
  if (n < 6 || !(squares > 0)) return noise;

  // The estimate from n values falls short by (1 + 4ρ)/n (Kendall 1954).
  noise.autocorrelation = std::clamp((LagOne(deviations, 0) + 1 / n) / (1 - 4 / n), 0.0, kMostAutocorrelation);

  const double slope = times_values / times_squared;
  const double left = std::max(squares - slope * times_values, 0.0);
  const double rho = std::clamp(LagOne(deviations, slope), 0.0, kMostAutocorrelation);
  const double error = std::sqrt(left / (degrees - 1) / times_squared * (1 + rho) / (1 - rho));
  noise.trend = slope * static_cast<double>(longest - 1);
  noise.trend_significance = std::fabs(slope) / std::max(error, 1e-12 * std::fabs(slope) + 1e-300);
  return noise;
}

double VarianceOfMean(int n, double autocorrelation) {
  double sum = n, power = 1;
  for (int lag = 1; lag < n; ++lag) {
    power *= autocorrelation;
    sum += 2 * (n - lag) * power;
  }
  return sum / (static_cast<double>(n) * n);
}

}  // namespace touchstone

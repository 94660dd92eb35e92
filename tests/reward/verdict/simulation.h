// Rounds as a clock would give them, from known laws: what the statistics are tested with.
#ifndef TOUCHSTONE_TESTS_REWARD_VERDICT_SIMULATION_H_
#define TOUCHSTONE_TESTS_REWARD_VERDICT_SIMULATION_H_

#include <cmath>
#include <ostream>
#include <random>
#include <vector>

#include "reward/verdict/statistics.h"

namespace touchstone {

// The log-ratio of a round is log(kTrueSpeedup) plus noise in units of kSigma.
inline constexpr double kTrueSpeedup = 1.25;
inline constexpr double kSigma = 0.01;

struct Law {
  const char* name = "";
  double phi = 0;               // AR(1) with marginal variance 1
  int student_degrees = 0;      // > 0: heavy tails instead of normal ones
  double outlier_share = 0;     // moved by +10
  double between = 0;           // standard deviation of an offset of each start
  double drift = 0;             // of the candidate alone over a start, from its middle
  double common_log_drift = 0;  // of both sides over a start
};

// The name, so that a test that is given a law has the same description in every run.
inline void PrintTo(const Law& law, std::ostream* out) { *out << law.name; }

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : bits_(seed) {}

  double Uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }
  double Normal() { return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * M_PI * Uniform()); }

  StartRounds Start(const Law& law, int rounds) {
    StartRounds start;
    const double offset = law.between * Normal();
    double noise = Normal();
    for (int i = 0; i < rounds; ++i) {
      if (i > 0) noise = law.phi * noise + std::sqrt(1 - law.phi * law.phi) * Normal();
      double z = noise;
      if (law.student_degrees > 0) z = Student(law.student_degrees);
      if (law.outlier_share > 0 && Uniform() < law.outlier_share) z += 10;
      const double time = rounds > 1 ? static_cast<double>(i) / (rounds - 1) - 0.5 : 0;
      z += offset - law.drift * time;
      const double common = law.common_log_drift * time + 0.05 * Normal();
      start.push_back({.baseline_us = 500 * std::exp(common + kSigma * z / 2),
                       .candidate_us = 500 / kTrueSpeedup * std::exp(common - kSigma * z / 2)});
    }
    return start;
  }

  std::vector<StartRounds> Starts(const Law& law, int starts, int rounds) {
    std::vector<StartRounds> all;
    for (int i = 0; i < starts; ++i) all.push_back(Start(law, rounds));
    return all;
  }

 private:
  double Student(int degrees) {
    double squares = 0;
    for (int i = 0; i < degrees; ++i) squares += std::pow(Normal(), 2);
    return Normal() / std::sqrt(squares / degrees);
  }

  std::mt19937_64 bits_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_REWARD_VERDICT_SIMULATION_H_

// The 95 % interval covers the truth in 90 to 99 of 100 evaluations under every law that docs/measuring.md names, or
// is not stated. No clock: rounds are simulated from fixed seeds. The printed tables are those of the document.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "reward/verdict/statistics.h"
#include "tests/reward/verdict/simulation.h"

namespace touchstone {
namespace {

constexpr int kReplications = 1000;
constexpr int kReplicationsOfACalibration = 100;  // then the host is calibrated anew

struct Setting {
  const char* name;
  int starts;
  bool calibrated;
};
constexpr Setting kSettings[] = {
    {"1 start, calibrated", 1, true},  {"3 starts, calibrated", 3, true}, {"5 starts, calibrated", 5, true},
    {"3 starts, estimated", 3, false}, {"5 starts, estimated", 5, false},
};

const Law kLaws[] = {
    {.name = "independent"},
    {.name = "AR(1), 0.3", .phi = 0.3},
    {.name = "AR(1), 0.6", .phi = 0.6},
    {.name = "AR(1), 0.9", .phi = 0.9},
    {.name = "drift of both sides, 20 %", .common_log_drift = 0.2},
    {.name = "drift of one side, 1.5 σ", .drift = 1.5},
    {.name = "drift of one side, 6 σ", .drift = 6},
    {.name = "t with 3 degrees", .student_degrees = 3},
    {.name = "5 % outliers of 10 σ", .outlier_share = 0.05},
    {.name = "offsets of starts, 0.5 σ", .between = 0.5},
    {.name = "offsets of starts, 2 σ", .between = 2},
    {.name = "offsets 0.5 σ and AR(1), 0.6", .phi = 0.6, .between = 0.5},
};

struct Cell {
  int stated = 0;
  int covered = 0;
  double coverage() const { return 100.0 * covered / stated; }
};

// What `touchstone calibrate` would store on a host with this noise. A drift of one side is a candidate's own.
double Calibrate(Simulation& simulation, Law law) {
  law.drift = 0;
  return BetweenStartSd(simulation.Starts(law, 100, 24));
}

// `calibration`: the noise in the hour of the calibration, when it is not the one of the evaluation.
Cell Simulate(const Law& law, int rounds, const Setting& setting, const Law& calibration) {
  Simulation simulation(20261201);
  Cell cell;
  SpeedupOptions options{.resamples = 200};
  for (int i = 0; i < kReplications; ++i) {
    if (setting.calibrated && i % kReplicationsOfACalibration == 0) {
      options.between_start_sd = Calibrate(simulation, calibration);
    }
    options.seed = static_cast<uint64_t>(i);
    const SpeedupEstimate estimate = EstimateSpeedup(simulation.Starts(law, setting.starts, rounds), options);
    if (!estimate.interval_stated) continue;
    ++cell.stated;
    cell.covered += estimate.lower <= kTrueSpeedup && kTrueSpeedup <= estimate.upper;
  }
  return cell;
}

std::string Shown(const Cell& cell) {
  if (cell.stated == 0) return " not stated |";
  char text[64];
  std::snprintf(text, sizeof(text), " %.1f (%.0f) |", cell.coverage(), 100.0 * cell.stated / kReplications);
  return text;
}

class Coverage : public ::testing::TestWithParam<Law> {};

TEST_P(Coverage, IsBetween90And99Of100OrNotStated) {
  const Law& law = GetParam();
  for (const int rounds : {8, 12, 24}) {
    std::string row = "| " + std::string(law.name) + " | " + std::to_string(rounds) + " |";
    for (const Setting& setting : kSettings) {
      const Cell cell = Simulate(law, rounds, setting, law);
      const std::string where = std::string(law.name) + ", " + std::to_string(rounds) + " rounds, " + setting.name;
      row += Shown(cell);
      EXPECT_LE(cell.stated - cell.covered, kReplications / 10) << where << ": wrong in too many evaluations";
      if (cell.stated < kReplications / 2) continue;  // mostly "cannot be stated"
      EXPECT_GE(cell.coverage(), 90) << where;
      EXPECT_LE(cell.coverage(), 99) << where;
    }
    std::printf("%s\n", row.c_str());
  }
}

// A host that was calibrated in a quiet hour and is autocorrelated now: from three starts on the interval still holds.
// With one start it does not for a strong autocorrelation, which a few rounds cannot show: the first column is printed
// for the document.
TEST(CoverageAfterAQuietCalibration, HoldsFromThreeStartsOn) {
  for (const double phi : {0.3, 0.6, 0.9}) {
    for (const int rounds : {8, 12, 24}) {
      std::printf("| AR(1), %.1f | %d |", phi, rounds);
      for (size_t i = 0; i < 3; ++i) {
        const Cell cell = Simulate({.phi = phi}, rounds, kSettings[i], {});
        std::printf("%s", Shown(cell).c_str());
        if (kSettings[i].starts < 3) continue;
        EXPECT_GE(cell.coverage(), 90) << phi << ", " << rounds << " rounds, " << kSettings[i].name;
        EXPECT_LE(cell.coverage(), 99) << phi << ", " << rounds << " rounds, " << kSettings[i].name;
      }
      std::printf("\n");
    }
  }
}

// An evaluation stops as soon as its interval is narrow enough, so it looks at the interval many times: that must not
// pick the ones that are narrow by luck.
struct Plan {
  const char* name;
  int starts;
  int min_rounds;
  int max_rounds;
  bool calibrated;
};

SpeedupEstimate Measure(Simulation& simulation, const Law& law, const Plan& plan, double target,
                        const SpeedupOptions& options) {
  SpeedupOptions assumed = options;
  if (!plan.calibrated) assumed.between_start_sd = 0.01;  // until there are enough starts
  std::vector<StartRounds> starts;
  for (int start = 1; start <= plan.starts; ++start) {
    const StartRounds all = simulation.Start(law, plan.max_rounds);
    starts.emplace_back();
    for (int round = 0; round < plan.max_rounds; ++round) {
      starts.back().push_back(all[static_cast<size_t>(round)]);
      if (round + 1 < plan.min_rounds || round % 2 == 0) continue;
      const SpeedupEstimate estimate = EstimateSpeedup(starts, start < 3 ? assumed : options);
      if (estimate.interval_stated && estimate.half_width <= target) break;
    }
  }
  return EstimateSpeedup(starts, options);
}

TEST(CoverageWhenStoppedEarly, IsBetween90And99Of100) {
  constexpr Plan kPlans[] = {
      {"1 start of 8 to 24, calibrated", 1, 8, 24, true},
      {"3 starts of 12 to 32, calibrated", 3, 12, 32, true},
      {"3 starts of 12 to 32, estimated", 3, 12, 32, false},
  };
  for (const Law& law : {Law{.name = "independent"}, Law{.name = "AR(1), 0.6", .phi = 0.6},
                         Law{.name = "offsets of starts, 0.5 σ", .between = 0.5}}) {
    for (const double target : {0.006, 0.012}) {
      std::printf("| %s | %.1f %% |", law.name, 100 * target);
      for (const Plan& plan : kPlans) {
        Simulation simulation(20261201);
        Cell cell;
        SpeedupOptions options{.resamples = 100};
        for (int i = 0; i < kReplications; ++i) {
          if (plan.calibrated && i % kReplicationsOfACalibration == 0) {
            options.between_start_sd = Calibrate(simulation, law);
          }
          options.seed = static_cast<uint64_t>(i);
          const SpeedupEstimate estimate = Measure(simulation, law, plan, target, options);
          cell.stated += estimate.interval_stated;
          cell.covered += estimate.interval_stated && estimate.lower <= kTrueSpeedup && kTrueSpeedup <= estimate.upper;
        }
        std::printf("%s", Shown(cell).c_str());
        EXPECT_GE(cell.coverage(), 90) << law.name << ", " << target << ", " << plan.name;
        EXPECT_LE(cell.coverage(), 99) << law.name << ", " << target << ", " << plan.name;
      }
      std::printf("\n");
    }
  }
}

std::string TestName(const ::testing::TestParamInfo<Law>& info) {
  std::string name;
  for (const char c : std::string(info.param.name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(Laws, Coverage, ::testing::ValuesIn(kLaws), TestName);

}  // namespace
}  // namespace touchstone

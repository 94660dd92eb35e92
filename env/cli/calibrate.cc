// touchstone calibrate: how far apart two starts of the same kernel are on this host.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/utc.h"
#include "env/cli/command.h"
#include "env/cli/progress.h"
#include "env/cli/session.h"
#include "env/cli/slot.h"
#include "reward/task/catalog.h"
#include "reward/verdict/calibration.h"
#include "reward/verdict/statistics.h"

namespace touchstone::cli {
namespace {

constexpr char kExamples[] = R"(
Examples:
  touchstone calibrate                          all cores; half a minute
  touchstone calibrate --cpus 2,3               for a slot of two cores
  touchstone calibrate --evaluations 100

Evaluates honest kernels against themselves, each time in new processes. What their speedups differ by beyond the noise
within a process is stored for this host, number of cores and interface, and widens the intervals of later evaluations.
Without it, profiles with one start state no interval. Do nothing else on the machine meanwhile.

Exit codes: 0 stored; 2 bad arguments; 3 it could not be measured.)";

struct Kernel {
  const char* task;
  const char* source;
};

// One that waits for memory and one that waits for its own sums: layouts of memory move them differently.
constexpr Kernel kKernels[] = {
    {"add", R"(extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}
)"},
    {"cumsum", R"(extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] = sum += x[r * cols + c];
  }
}
)"},
};

struct Options {
  int evaluations = 20;  // of each kernel
  SlotOptions slot;
};

// The rounds that count, by start.
std::vector<StartRounds> StartsOf(const EvalResult& result) {
  std::map<int, StartRounds> starts;
  for (const RoundRecord& round : result.rounds) {
    if (!round.is_void && !round.solo) starts[round.start].push_back({round.baseline_us, round.candidate_us});
  }
  std::vector<StartRounds> list;
  for (auto& [start, rounds] : starts) {
    if (rounds.size() >= 2) list.push_back(std::move(rounds));
  }
  return list;
}

Result<double> Measure(const Kernel& kernel, const Options& options, Evaluator& evaluator, Progress& progress,
                       size_t done) {
  TOUCHSTONE_ASSIGN(const Task task, FindTask(kernel.task));
  // As long as the starts of the profile that depends on it; correctness is not the question here.
  TOUCHSTONE_ASSIGN(MeasurementProfile profile, LoadProfile("quick"));
  profile.trials = 1;
  profile.hidden_shape_trials = 0;
  profile.hidden_distributions = false;
  Submission submission;
  submission.task = kernel.task;
  submission.source = kernel.source;
  submission.baseline_source = kernel.source;

  std::vector<StartRounds> starts;
  for (int i = 0; i < options.evaluations; ++i) {
    progress.Show(done + static_cast<size_t>(i), kernel.task);
    TOUCHSTONE_ASSIGN(const Record record, EvaluateSubmission(evaluator, task, profile, submission));
    for (StartRounds& rounds : StartsOf(record.result)) starts.push_back(std::move(rounds));
  }
  if (starts.size() < static_cast<size_t>(options.evaluations) / 2 || starts.size() < 2) {
    return Error(ErrorCode::kUnavailable, "only " + std::to_string(starts.size()) + " of " +
                                              std::to_string(options.evaluations) + " evaluations of " + kernel.task +
                                              " gave rounds that count: is the machine busy?");
  }
  return BetweenStartSd(starts);
}

Result<Calibration> Run(const Options& options) {
  // What is stored already must not decide when these evaluations stop.
  SlotOptions slot = options.slot;
  slot.calibrated = false;
  TOUCHSTONE_ASSIGN(const std::unique_ptr<Evaluator> evaluator, MakeEvaluator(slot));
  Calibration calibration;
  calibration.key = SlotCalibrationKey(options.slot);
  Progress progress(std::size(kKernels) * static_cast<size_t>(options.evaluations));
  std::vector<std::pair<std::string, double>> found;
  for (const Kernel& kernel : kKernels) {
    TOUCHSTONE_ASSIGN(const double sd, Measure(kernel, options, *evaluator, progress,
                                               found.size() * static_cast<size_t>(options.evaluations)));
    found.emplace_back(kernel.task, sd);
    calibration.between_start_sd = std::max(calibration.between_start_sd, sd);
    calibration.evaluations += options.evaluations;
  }
  calibration.date = UtcNow();
  progress.Clear();
  for (const auto& [task, sd] : found) std::printf("%s: starts differ by %.3f %%\n", task.c_str(), 100 * sd);
  TOUCHSTONE_RETURN_IF_ERROR(CalibrationStore(options.slot.calibration_file).Put(calibration));
  return calibration;
}

ExitCode Calibrate(const Options& options) {
  const auto calibration = Run(options);
  if (!calibration.ok()) return Fail(calibration.error());
  std::printf("stored %.3f %% for %s, interface %s, in %s\n", 100 * calibration->between_start_sd,
              calibration->key.device.c_str(), calibration->key.interface_name.c_str(),
              CalibrationStore(options.slot.calibration_file).path().c_str());
  return kExitSuccess;
}

}  // namespace

void AddCalibrateCommand(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      program.add_subcommand("calibrate", "Measure how far two starts of the same kernel are apart here");
  command->footer(kExamples);
  command->add_option("--evaluations", options->evaluations, "Of each kernel")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  AddSlotOptions(*command, options->slot);
  command->callback([options, &action] { action = [options] { return Calibrate(*options); }; });
}

}  // namespace touchstone::cli

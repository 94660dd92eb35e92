#include "reward/public_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace touchstone {
namespace {

// What helps to write for the machine; the rest of `environment` is the operator's.
constexpr std::string_view kPublicEnvironment[] = {"cpu", "size", "toolchain"};

uint64_t Round(uint64_t count) {
  const double rounded = RoundToPowerOfTwo(static_cast<double>(count));
  return static_cast<uint64_t>(std::min(rounded, 0x1p63));
}

CompareReport Rounded(const CompareReport& report) {
  CompareReport view;
  view.count = report.count;  // of a declared shape
  view.mismatches = Round(report.mismatches);
  view.nonfinite_mismatches = Round(report.nonfinite_mismatches);
  view.max_abs = RoundToPowerOfTwo(report.max_abs);
  view.max_rel = RoundToPowerOfTwo(report.max_rel);
  view.rms_error = RoundToPowerOfTwo(report.rms_error);
  view.rms_expected = RoundToPowerOfTwo(report.rms_expected);
  view.rms_exceeded = report.rms_exceeded;
  return view;
}

// The kind of row that a policy sees.
std::string PublicKind(const std::string& kind) { return kind.rfind("hidden", 0) == 0 ? "hidden" : kind; }

// Exact errors only where the inputs are no secret. From the first hidden trial on a candidate could tell by the errors
// that it makes what it saw there, so windows and solos are told as a class, too.
std::vector<TrialRecord> PublicTrials(const std::vector<TrialRecord>& trials) {
  std::vector<TrialRecord> view;
  for (const TrialRecord& trial : trials) {
    if (trial.kind == "declared") {
      view.push_back({trial.kind, trial.trial, trial.output, Rounded(trial.candidate), Rounded(trial.reference)});
      continue;
    }
    const std::string kind = PublicKind(trial.kind);
    auto row = std::find_if(view.begin(), view.end(), [&](const TrialRecord& r) { return r.kind == kind; });
    if (row == view.end()) row = view.insert(row, TrialRecord{kind, 0, "", {}, {}});
    if (!trial.candidate.passed()) row->candidate.mismatches = 1;
  }
  return view;
}

}  // namespace

double RoundToPowerOfTwo(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double exponent = std::clamp(std::round(std::log2(std::fabs(value))), -1074.0, 1023.0);
  return std::copysign(std::exp2(exponent), value);
}

EvalResult PublicView(const EvalResult& result) {
  EvalResult view = result;
  if (view.fault() == Fault::kEnvironment)
    view.reason = "the evaluation could not be made; that says nothing about the candidate";
  view.trials = PublicTrials(result.trials);
  const bool saw_secrets = std::any_of(view.trials.begin(), view.trials.end(),
                                       [](const TrialRecord& trial) { return trial.kind != "declared"; });
  for (Evidence& evidence : view.evidence) {
    if (saw_secrets) evidence.numbers.clear();
    for (auto& [name, number] : evidence.numbers) number = RoundToPowerOfTwo(number);
  }
  view.floor_us = RoundToPowerOfTwo(result.floor_us);
  std::erase_if(view.environment, [](const auto& entry) {
    return std::find(std::begin(kPublicEnvironment), std::end(kPublicEnvironment), entry.first) ==
           std::end(kPublicEnvironment);
  });
  view.solo_upper_bound = 0;
  view.baseline_alone_us = 0;
  view.baseline_after_us = 0;
  view.rounds.clear();
  view.budget_ms.clear();
  view.calibration.clear();
  view.layers.clear();
  view.key_hex.clear();
  return view;
}

}  // namespace touchstone

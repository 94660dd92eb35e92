#include "env/episode/feedback.h"

#include <cmath>
#include <cstdio>

#include "base/utf8.h"
#include "env/episode/fenced.h"

namespace touchstone {
namespace {

constexpr size_t kMaxDiagnosticBytes = 4000;

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string Microseconds(double us) { return us >= 1000 ? Fixed(us / 1000, 2) + " ms" : Fixed(us, 2) + " µs"; }

// "2^-7": the views have nothing finer.
std::string PowerOfTwo(double value) {
  if (!(value > 0) || !std::isfinite(value)) return "unbounded";
  return "2^" + std::to_string(static_cast<int>(std::lround(std::log2(value))));
}

// The class: one sentence.
std::string ClassOf(EvalStatus status) {
  switch (status) {
    case EvalStatus::kFormatError:
      return "No candidate was found in the answer.";
    case EvalStatus::kRejectedStatic:
      return "The candidate breaks a rule of the interface and was not run.";
    case EvalStatus::kCompileError:
      return "The candidate does not compile.";
    case EvalStatus::kLoadError:
      return "The candidate compiles, but could not be loaded.";
    case EvalStatus::kRuntimeError:
      return "The candidate failed while it ran.";
    case EvalStatus::kTimeout:
      return "The candidate took too long.";
    case EvalStatus::kOutOfMemory:
      return "The candidate needs more memory than it may have.";
    case EvalStatus::kIncorrect:
      return "The candidate runs, but its results are wrong.";
    case EvalStatus::kCheating:
      return "The candidate does what no honest kernel does, so its times do not count.";
    case EvalStatus::kBelowFloor:
      return "The candidate is faster than the task's memory traffic and arithmetic allow, so it cannot do the work.";
    case EvalStatus::kSuccess:
      return "The candidate is right.";
    case EvalStatus::kUnstable:
      return "The candidate is right, but its times vary too much for more than a cautious bound.";
    case EvalStatus::kUnverified:
      return "The candidate is right, but a second measurement did not confirm its speed.";
    case EvalStatus::kEnvironmentError:
      return "The evaluation could not be made; that says nothing about the candidate.";
    case EvalStatus::kCancelled:
      return "The evaluation was cancelled.";
    case EvalStatus::kDeadline:
      return "The time for the request was over before the evaluation was done.";
  }
  return "";
}

std::string Diagnostics(std::string text) {
  if (text.empty()) return "";
  if (text.size() > kMaxDiagnosticBytes) {
    text.resize(kMaxDiagnosticBytes);
    text.resize(Utf8Prefix(text));  // no half character
    text += "\n…";
  }
  return Fenced(text, "");
}

std::string Reason(const EvalResult& view) { return view.reason.empty() ? "" : "Reason: " + view.reason + ".\n"; }

std::string OnTrials(const EvalResult& view) {
  std::string text;
  for (const TrialRecord& trial : view.trials) {
    const CompareReport& report = trial.candidate;
    if (report.passed()) continue;
    if (trial.kind == "hidden") {
      text +=
          "- wrong for lengths or values that are not told; think of lengths that are no multiple of anything, and "
          "of extreme values\n";
    } else if (trial.kind != "declared") {
      text += "- wrong in a timed call\n";
    } else if (report.nonfinite_mismatches > 0) {
      text += "- output `" + trial.output + "`: NaN or infinity where there should be none, or the other way round\n";
    } else if (report.rms_exceeded && report.mismatches == 0) {
      text += "- output `" + trial.output + "`: the root mean square error is too large, about " +
              PowerOfTwo(report.rms_error) + "\n";
    } else {
      text += "- output `" + trial.output + "`: about " + PowerOfTwo(static_cast<double>(report.mismatches)) + " of " +
              std::to_string(report.count) + " elements are off, by up to " + PowerOfTwo(report.max_abs) + "\n";
    }
  }
  return text;
}

std::string OnEvidence(const EvalResult& view, Evidence::Severity severity) {
  std::string text;
  for (const Evidence& evidence : view.evidence) {
    if (evidence.severity == severity) text += "- " + evidence.explanation + "\n";
  }
  return text;
}

std::string OnTimes(const EvalResult& view) {
  if (!(view.candidate_us > 0)) return "";
  std::string text = "It takes " + Microseconds(view.candidate_us) + " a call, the baseline " +
                     Microseconds(view.baseline_us) + ": a speedup of " + Fixed(view.rewarded_speedup, 3);
  if (view.speedup.interval_stated) {
    text += " (interval " + Fixed(view.speedup.lower, 3) + " … " + Fixed(view.speedup.upper, 3) + ")";
  }
  return text + ".\n";
}

std::string Details(const EvalResult& view) {
  switch (view.status) {
    case EvalStatus::kCompileError:
    case EvalStatus::kLoadError:
    case EvalStatus::kRuntimeError:
    case EvalStatus::kTimeout:
    case EvalStatus::kOutOfMemory:
      return Reason(view) + Diagnostics(view.diagnostics);
    case EvalStatus::kIncorrect: {
      const std::string trials = OnTrials(view);  // they say what the reason says of the first of them
      return (trials.empty() ? Reason(view) : trials) + OnEvidence(view, Evidence::Severity::kCondemns);
    }
    case EvalStatus::kCheating:
    case EvalStatus::kBelowFloor:
      return Reason(view) + OnEvidence(view, Evidence::Severity::kCondemns);
    case EvalStatus::kSuccess:
      return OnTimes(view) + OnEvidence(view, Evidence::Severity::kSuspicious);
    case EvalStatus::kUnstable:
    case EvalStatus::kUnverified:
      return Reason(view) + OnTimes(view) + OnEvidence(view, Evidence::Severity::kSuspicious);
    case EvalStatus::kEnvironmentError:
      return "";  // the class has said it
    default:
      return Reason(view);
  }
}

}  // namespace

std::string AdviceAfter(EvalStatus status, bool faster) {
  switch (status) {
    case EvalStatus::kFormatError:
      return "Put the whole source into one fenced block at the end of the answer, and close it.";
    case EvalStatus::kRejectedStatic:
    case EvalStatus::kCompileError:
    case EvalStatus::kLoadError:
      return "Correct this first. The function must have exactly the declared signature.";
    case EvalStatus::kRuntimeError:
    case EvalStatus::kOutOfMemory:
      return "Look for accesses beyond an array, for lengths that were taken for granted, and for large buffers.";
    case EvalStatus::kTimeout:
      return "Look for loops that need not end, and for work that grows faster than the input.";
    case EvalStatus::kIncorrect:
      return "Make it right for every length and every value before it is made fast.";
    case EvalStatus::kCheating:
    case EvalStatus::kBelowFloor:
      return "Compute every output from the inputs of the same call, within that call.";
    case EvalStatus::kSuccess:
      return faster
                 ? "Make it faster still: look at memory traffic, vector instructions, and what is computed twice."
                 : "It is not faster than the baseline yet: look at memory traffic, vector instructions, and what is "
                   "computed twice.";
    case EvalStatus::kUnstable:
    case EvalStatus::kUnverified:
      return "Make its time depend less on chance: no allocation, and no waiting, within a call.";
    case EvalStatus::kEnvironmentError:
    case EvalStatus::kCancelled:
    case EvalStatus::kDeadline:
      return "The same candidate may be submitted again.";
  }
  return "";
}

std::string FeedbackOn(const EvalResult& view, std::string_view feedback) {
  if (feedback == "none") return "";
  std::string text = ClassOf(view.status) + "\n";
  if (feedback == "full") text += Details(view);
  return text;
}

}  // namespace touchstone

#include "reward/judge/fate.h"

#include <signal.h>

#include <cstring>

namespace touchstone {
namespace {

std::string Seconds(std::chrono::microseconds limit) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g s", std::chrono::duration<double>(limit).count());
  return text;
}

// Signals that a faulty program gets, rather than chooses.
bool IsFault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGABRT;
}

Fate FateOfDeath(Side& side, Phase phase, Detail detail) {
  const EvalStatus status = phase == Phase::kLoad ? EvalStatus::kLoadError : EvalStatus::kRuntimeError;
  const std::string when = phase == Phase::kLoad ? "while it was loaded" : "during a call";
  const auto outcome = side.box().Wait(std::chrono::milliseconds(1000));
  if (!outcome.ok()) return {status, "the candidate's process ended " + when, ""};
  if (outcome->out_of_memory) {
    return {EvalStatus::kOutOfMemory, "the candidate's box ran out of memory " + when, ""};
  }
  if (detail == Detail::kClass && (outcome->kind == Outcome::Kind::kExited ||
                                   (outcome->kind == Outcome::Kind::kSignalled && !IsFault(outcome->signal)))) {
    return {status, "the candidate's process ended " + when, ""};
  }
  if (outcome->kind == Outcome::Kind::kExited) {
    return {status, "the candidate ended its process with code " + std::to_string(outcome->code) + " " + when, ""};
  }
  if (outcome->kind == Outcome::Kind::kSignalled) {
    const char* name = ::sigabbrev_np(outcome->signal);
    return {status, "the candidate's process died of SIG" + std::string(name != nullptr ? name : "?") + " " + when, ""};
  }
  return {status, "the candidate's process was killed " + when, ""};
}

}  // namespace

std::string_view ToString(Phase phase) {
  switch (phase) {
    case Phase::kLoad:
      return "load";
    case Phase::kCorrectness:
      return "correctness";
    case Phase::kMeasure:
      return "measure";
  }
  return "unknown";
}

std::optional<Fate> FateOfTurn(Side& side, const Turn& turn, Phase phase, std::chrono::microseconds limit,
                               Detail detail) {
  if (turn.Completed()) return std::nullopt;
  if (turn.waited == Waited::kDied) return FateOfDeath(side, phase, detail);
  if (turn.waited == Waited::kTimedOut) {
    return Fate{EvalStatus::kTimeout,
                (phase == Phase::kLoad ? "loading took longer than " : "a call took longer than ") + Seconds(limit),
                ""};
  }
  const bool loading = phase == Phase::kLoad;
  return Fate{loading ? EvalStatus::kLoadError : EvalStatus::kRuntimeError,
              loading ? "the candidate could not be loaded" : "the runner reports an error in a call",
              detail == Detail::kAll ? turn.answer.message : ""};
}

}  // namespace touchstone

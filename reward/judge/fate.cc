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

Result<std::optional<Fate>> FateOfDeath(Side& side, Phase phase, Detail detail) {
  const EvalStatus status = phase == Phase::kLoad ? EvalStatus::kLoadError : EvalStatus::kRuntimeError;
  const std::string when = phase == Phase::kLoad ? "while it was loaded" : "during a call";
  TOUCHSTONE_ASSIGN(const Outcome outcome, side.box().Wait(std::chrono::milliseconds(1000)));
  const auto fate = [&](EvalStatus end, const std::string& what) {
    return std::optional<Fate>(Fate{end, what + " " + when, ""});
  };
  if (outcome.out_of_memory) return fate(EvalStatus::kOutOfMemory, "the candidate's box ran out of memory");
  if (outcome.kind == Outcome::Kind::kKilled ||
      (outcome.kind == Outcome::Kind::kSignalled && outcome.signal == SIGKILL)) {
    return Error(ErrorCode::kUnavailable, "the candidate's process was killed " + when);
  }
  if (detail == Detail::kClass && !(outcome.kind == Outcome::Kind::kSignalled && IsFault(outcome.signal))) {
    return fate(status, "the candidate's process ended");
  }
  if (outcome.kind == Outcome::Kind::kExited) {
    return fate(status, "the candidate ended its process with code " + std::to_string(outcome.code));
  }
  const char* name = ::sigabbrev_np(outcome.signal);
  return fate(status, "the candidate's process died of SIG" + std::string(name != nullptr ? name : "?"));
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

Result<std::optional<Fate>> FateOfTurn(Side& side, const Turn& turn, Phase phase, std::chrono::microseconds limit,
                                       Detail detail) {
  if (turn.Completed()) return std::optional<Fate>();
  if (turn.waited == Waited::kDied) return FateOfDeath(side, phase, detail);
  const bool loading = phase == Phase::kLoad;
  if (turn.waited == Waited::kTimedOut) {
    return std::optional<Fate>(
        Fate{EvalStatus::kTimeout,
             (loading ? "loading took longer than " : "a call took longer than ") + Seconds(limit), ""});
  }
  return std::optional<Fate>(
      Fate{loading ? EvalStatus::kLoadError : EvalStatus::kRuntimeError,
           loading ? "the candidate could not be loaded" : "the runner reports an error in a call",
           detail == Detail::kAll ? turn.answer.message : ""});
}

Error ReferenceFailed(Side& side, const Turn& turn) {
  const auto fate = FateOfTurn(side, turn, Phase::kCorrectness, std::chrono::seconds(0));
  const std::string why = !fate.ok() ? fate.error().message()
                          : *fate    ? (*fate)->reason + " " + (*fate)->diagnostics
                                     : "";
  return Error(ErrorCode::kUnavailable, "the reference did not run: " + why);
}

}  // namespace touchstone

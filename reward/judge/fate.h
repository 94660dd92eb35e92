#ifndef TOUCHSTONE_REWARD_JUDGE_FATE_H_
#define TOUCHSTONE_REWARD_JUDGE_FATE_H_

#include <chrono>
#include <optional>
#include <string>

#include "reward/judge/side.h"
#include "reward/result.h"

namespace touchstone {

// Why an evaluation ended. The first cause wins.
struct Fate {
  EvalStatus status = EvalStatus::kEnvironmentError;
  std::string reason;
  std::string diagnostics;  // what the runner said, for statuses where that may be told
};

enum class Phase { kLoad, kCorrectness, kMeasure };
std::string_view ToString(Phase phase);

// How much may be told. A process that has been in a hidden trial knows what it must not tell: neither its own words
// nor a number of its choice leave the box (design: V14).
enum class Detail { kAll, kClass };

// What a turn that did not complete means for the candidate; nullopt when it did complete. Reaps the dead. kUnavailable
// when the process was killed by SIGKILL or with its box: that may have been somebody else, so the caller asks again
// with a new box before it blames the candidate (design: V13).
Result<std::optional<Fate>> FateOfTurn(Side& side, const Turn& turn, Phase phase, std::chrono::microseconds limit,
                                       Detail detail = Detail::kAll);

// A reference that did not complete a turn: a failure of ours, with what is known of the reason.
Error ReferenceFailed(Side& side, const Turn& turn);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_FATE_H_

#ifndef TOUCHSTONE_ENV_EPISODE_RECORDS_H_
#define TOUCHSTONE_ENV_EPISODE_RECORDS_H_

#include "env/episode/code_block.h"
#include "env/episode/replies.h"
#include "env/episode/session.h"

namespace touchstone {

// The current time, as records have it.
UnixMicros Now();
// 24 hexadecimal digits that nobody can guess.
std::string NewId();

// The result of an action that holds no candidate: nothing is evaluated.
EvalResult FormatErrorResult(const SessionSpec& spec, const std::string& why, UnixMicros time);

// The rollout of a step that started at `standing`: reward, best so far, and whether the episode ends with it.
RolloutRecord MakeStepRecord(const Episode& episode, const Standing& standing, const StepRequest& request,
                             const Submitted& submitted, EvalResult result, UnixMicros time);

// The rollout of a candidate without an episode.
RolloutRecord MakeScoreRecord(const SessionSpec& spec, const RequestKey& key, const Submitted& submitted,
                              EvalResult result, UnixMicros time);

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_RECORDS_H_

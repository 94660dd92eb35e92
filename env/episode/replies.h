// What is answered, as pure functions of what the store keeps: a reply that is sent at once and one that is made again
// after a restart are the same.
#ifndef TOUCHSTONE_ENV_EPISODE_REPLIES_H_
#define TOUCHSTONE_ENV_EPISODE_REPLIES_H_

#include <memory>
#include <string>
#include <vector>

#include "env/episode/session_spec.h"
#include "env/messages.h"
#include "rollout/record.h"

namespace touchstone {

// An episode as its rollouts see it. Shared and never changed.
struct Episode {
  std::string id;
  RequestKey request;  // the reset
  UnixMicros opened{};
  SessionSpec spec;
  std::shared_ptr<const Task> task;
  std::shared_ptr<const TaskText> text;
};

// `exemplars` are those of the spec, with their sources.
ResetReply MakeResetReply(const Episode& episode, std::vector<Exemplar> exemplars);

// `best_before`: best rewarded speedup of the episode before this record.
StepReply MakeStepReply(const Episode& episode, const RolloutRecord& record, double best_before);

ScoreReply MakeScoreReply(const RolloutRecord& record);

// `stored` was measured again as `again`.
ValidateReply MakeValidateReply(const RolloutRecord& stored, const RolloutRecord& again);

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_REPLIES_H_

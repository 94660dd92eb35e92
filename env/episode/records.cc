#include "env/episode/records.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/utc.h"
#include "reward/presets/preset.h"

namespace touchstone {
namespace {

RolloutRecord Common(const SessionSpec& spec, const RequestKey& key, const Submitted& submitted, EvalResult result,
                     double best_before, UnixMicros time) {
  RolloutRecord record;
  record.id = NewId();
  record.request = key;
  record.time = time;
  record.task = spec.task;
  record.group_id = spec.group_id;
  record.policy_version = spec.policy_version;
  record.source = submitted.source;
  record.code_begin = submitted.code_begin;
  record.code_end = submitted.code_end;
  record.reward_preset = spec.reward;
  if (const auto preset = FindRewardPreset(spec.reward); preset.ok()) {
    record.reward = (*preset)->compute(result, best_before).value;
  }
  record.best_speedup = std::max(best_before, result.rewarded_speedup);
  record.result = std::move(result);
  return record;
}

}  // namespace

UnixMicros Now() { return std::chrono::duration_cast<UnixMicros>(std::chrono::system_clock::now().time_since_epoch()); }

std::string NewId() { return ToHex(NewSecretKey()).substr(0, 24); }

EvalResult FormatErrorResult(const SessionSpec& spec, const std::string& why, UnixMicros time) {
  EvalResult result;
  result.id = NewId();
  result.status = EvalStatus::kFormatError;
  result.reason = why;
  result.phase = "format";
  result.task = spec.task;
  result.task_hash = spec.task_hash;
  result.interface_name = spec.interface_name;
  result.baseline = spec.baseline_source ? HashHex(*spec.baseline_source) : "reference";
  result.profile = spec.profile;
  result.record_time = UtcText(std::chrono::duration_cast<std::chrono::seconds>(time).count());
  return result;
}

RolloutRecord MakeStepRecord(const Episode& episode, const Standing& standing, const StepRequest& request,
                             const Submitted& submitted, EvalResult result, UnixMicros time) {
  const SessionSpec& spec = episode.spec;
  RolloutRecord record = Common(spec, request.key, submitted, std::move(result), standing.best_speedup, time);
  record.session = episode.id;
  record.turn = standing.turn;
  record.parent = standing.parent;
  for (const ShownRollout& shown : spec.exemplars) record.exemplars.push_back(shown.rollout);
  if (!request.policy_version.empty()) record.policy_version = request.policy_version;
  record.prompt_hash = request.prompt_hash;
  record.response = request.action.response;
  record.reward_increment = RewardIncrement(standing.best_reward, record.reward);
  record.terminated = spec.target_speedup && record.result.rewarded_speedup >= *spec.target_speedup;
  const bool used_up = record.turn + 1 >= spec.max_turns || (spec.budget && time - episode.opened >= *spec.budget);
  record.truncated = used_up && !record.terminated;
  return record;
}

RolloutRecord MakeScoreRecord(const SessionSpec& spec, const RequestKey& key, const Submitted& submitted,
                              EvalResult result, UnixMicros time) {
  RolloutRecord record = Common(spec, key, submitted, std::move(result), 0, time);
  record.reward_increment = RewardIncrement(std::nullopt, record.reward);
  return record;
}

}  // namespace touchstone

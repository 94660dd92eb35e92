#include "env/episode/replies.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/utf8.h"
#include "env/episode/feedback.h"
#include "env/episode/fenced.h"
#include "reward/presets/preset.h"
#include "reward/public_view.h"

namespace touchstone {
namespace {

constexpr double kAgreement =
    0.10;  // CUDA-L1 (arXiv:2507.14111), section 2.4.4: a second measurement may differ so much

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::optional<double> SecondsLeft(const Episode& episode, UnixMicros now) {
  if (!episode.spec.budget) return std::nullopt;
  const auto left = *episode.spec.budget - (now - episode.opened);
  return std::max(0.0, std::chrono::duration<double>(left).count());
}

std::string TurnLine(const Observation& observation) {
  std::string text = "Turn " + std::to_string(observation.turn + 1) + " of " +
                     std::to_string(observation.turn + observation.turns_left) + ".";
  if (observation.seconds_left) text += " " + Fixed(*observation.seconds_left, 0) + " seconds are left.";
  if (observation.best_speedup > 0) text += " Best speedup so far: " + Fixed(observation.best_speedup, 3) + ".";
  return text + "\n";
}

std::string Ask(const std::string& interface_name) {
  return "End your answer with one fenced block marked `" + interface_name + "` that holds the whole source.\n";
}

std::string ShowExemplars(const std::vector<Exemplar>& exemplars, const std::string& interface_name) {
  if (exemplars.empty()) return "";
  std::string text =
      "\n## Earlier solutions\n\nEach with its speedup over the baseline. Compare them before you write: what makes "
      "one "
      "faster than the other, and what does none of them do yet?\n";
  for (const Exemplar& exemplar : exemplars) {
    text += "\n### Speedup " + Fixed(exemplar.score, 2) + "\n\n" + Fenced(exemplar.source, interface_name);
  }
  return text;
}

std::string FirstPrompt(const Observation& observation) {
  const TaskText& text = *observation.text;
  std::string prompt =
      "Write a kernel that computes the following, first right, then as fast as this machine can.\n\n" +
      text.statement + "\n## Interface\n\nOne C++20 source that defines\n\n" + Fenced(text.signature, "cpp") +
      "\nThis header stands in front of it already; do not include it:\n\n" + Fenced(text.header, "cpp") +
      "\n## Reference\n\n" + Fenced(text.reference, "python");
  if (!text.device.empty()) {
    prompt += "\n## Machine\n\n";
    for (const auto& [name, value] : text.device) prompt += "- " + name + ": " + value + "\n";
  }
  prompt += ShowExemplars(observation.exemplars, text.interface_name);
  return prompt + "\n## Answer\n\n" + TurnLine(observation) + Ask(text.interface_name);
}

std::string NextPrompt(const Observation& observation, EvalStatus status, bool faster) {
  std::string told = observation.feedback;
  if (!told.empty()) told += AdviceAfter(status, faster) + "\n\n";
  return told + TurnLine(observation) + "Think it through anew from the start. " +
         Ask(observation.text->interface_name);
}

RolloutInfo MakeInfo(const RolloutRecord& record, double best_before) {
  RolloutInfo info;
  info.rollout = record.id;
  info.result = PublicView(record.result);
  const auto preset = FindRewardPreset(record.reward_preset);
  if (preset.ok()) info.terms = (*preset)->compute(record.result, best_before);
  info.reward_preset = record.reward_preset;
  info.code_begin = record.code_begin;
  info.code_end = record.code_end;
  info.code_length = static_cast<int64_t>(CountCharacters(record.source));
  return info;
}

}  // namespace

ResetReply MakeResetReply(const Episode& episode, std::vector<Exemplar> exemplars) {
  ResetReply reply;
  reply.session = episode.id;
  Observation& observation = reply.observation;
  observation.text = episode.text;
  observation.turns_left = episode.spec.max_turns;
  observation.seconds_left = SecondsLeft(episode, episode.opened);
  observation.exemplars = std::move(exemplars);
  observation.prompt = FirstPrompt(observation);
  reply.reward_preset = episode.spec.reward;
  if (const auto preset = FindRewardPreset(episode.spec.reward); preset.ok()) {
    reply.reward_low = (*preset)->low;
    reply.reward_high = (*preset)->high;
  }
  reply.exemplars_as_of = episode.spec.exemplars_as_of;
  return reply;
}

StepReply MakeStepReply(const Episode& episode, const RolloutRecord& record, double best_before) {
  StepReply reply;
  reply.session = episode.id;
  reply.info = MakeInfo(record, best_before);
  reply.reward = record.reward;
  reply.reward_increment = record.reward_increment;
  reply.best_speedup = record.best_speedup;
  reply.terminated = record.terminated;
  reply.truncated = record.truncated;
  Observation& observation = reply.observation;
  observation.text = episode.text;
  observation.turn = record.turn + 1;
  observation.turns_left = std::max(0, episode.spec.max_turns - observation.turn);
  observation.seconds_left = SecondsLeft(episode, record.time);
  observation.best_speedup = record.best_speedup;
  observation.outcome = ToString(record.result.status);
  observation.feedback = FeedbackOn(reply.info.result, episode.spec.feedback);
  if (!record.terminated && !record.truncated) {
    observation.prompt = NextPrompt(observation, record.result.status, record.result.rewarded_speedup > 1);
  }
  return reply;
}

ScoreReply MakeScoreReply(const RolloutRecord& record) { return {record.reward, MakeInfo(record, 0)}; }

ValidateReply MakeValidateReply(const RolloutRecord& stored, const RolloutRecord& again) {
  ValidateReply reply;
  reply.again = MakeScoreReply(again);
  const EvalResult& then = stored.result;
  const EvalResult& now = again.result;
  reply.stored_speedup = then.rewarded_speedup;
  if (then.rewarded_speedup > 0 && now.rewarded_speedup > 0) {
    reply.ratio = now.rewarded_speedup / then.rewarded_speedup;
  }
  reply.agrees = then.status == now.status;
  if (reply.agrees && reply.ratio > 0) {
    const bool overlap = then.speedup.lower <= now.speedup.upper && now.speedup.lower <= then.speedup.upper;
    reply.agrees = overlap || std::fabs(reply.ratio - 1) < kAgreement;
  }
  return reply;
}

}  // namespace touchstone

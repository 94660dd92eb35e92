#include "tests/env/episode/describe.h"

#include <nlohmann/json.hpp>

namespace touchstone {
namespace {

using nlohmann::json;

json Optional(const std::optional<double>& value) { return value ? json(*value) : json(); }

json ToJson(const Observation& o) {
  json exemplars = json::array();
  for (const Exemplar& e : o.exemplars) {
    exemplars.push_back({{"rollout", e.rollout}, {"source", e.source}, {"score", e.score}, {"p", e.probability}});
  }
  const TaskText& text = *o.text;
  return {{"task", text.task},
          {"statement", text.statement},
          {"interface", text.interface_name},
          {"signature", text.signature},
          {"header", text.header},
          {"reference", text.reference},
          {"device", text.device},
          {"turn", o.turn},
          {"turns_left", o.turns_left},
          {"seconds_left", Optional(o.seconds_left)},
          {"best_speedup", o.best_speedup},
          {"outcome", o.outcome},
          {"feedback", o.feedback},
          {"exemplars", exemplars},
          {"prompt", o.prompt}};
}

json ToJson(const RolloutInfo& info) {
  json terms = json::array();
  for (const RewardTerm& t : info.terms.terms) terms.push_back({t.name, Optional(t.value), t.why_undefined});
  return {{"rollout", info.rollout},
          {"result", touchstone::ToJson(info.result)},
          {"value", Optional(info.terms.value)},
          {"why_none", info.terms.why_none},
          {"terms", terms},
          {"reward_preset", info.reward_preset},
          {"code", {info.code_begin, info.code_end, info.code_length}}};
}

json ToJson(const ScoreReply& reply) { return {{"reward", Optional(reply.reward)}, {"info", ToJson(reply.info)}}; }

std::string Dump(const json& object) { return object.dump(1); }

}  // namespace

std::string Describe(const ResetReply& reply) {
  return Dump({{"session", reply.session},
               {"observation", ToJson(reply.observation)},
               {"reward", {reply.reward_preset, reply.reward_low, reply.reward_high}},
               {"as_of", reply.exemplars_as_of}});
}

std::string Describe(const StepReply& reply) {
  return Dump({{"session", reply.session},
               {"observation", ToJson(reply.observation)},
               {"reward", Optional(reply.reward)},
               {"increment", reply.reward_increment},
               {"best", reply.best_speedup},
               {"ended", {reply.terminated, reply.truncated}},
               {"info", ToJson(reply.info)}});
}

std::string Describe(const ScoreReply& reply) { return Dump(ToJson(reply)); }

std::string Describe(const ValidateReply& reply) {
  return Dump({{"again", ToJson(reply.again)},
               {"stored", reply.stored_speedup},
               {"ratio", reply.ratio},
               {"agrees", reply.agrees}});
}

}  // namespace touchstone

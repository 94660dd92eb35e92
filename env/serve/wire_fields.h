// The fields of every message, each once, for writing, counting and reading alike. Private to wire.cc.
//
// `v` is a Writer, a Counter or a Reader; `t` a T or a const T. v(name, member, rule) handles one field.
#ifndef TOUCHSTONE_ENV_SERVE_WIRE_FIELDS_H_
#define TOUCHSTONE_ENV_SERVE_WIRE_FIELDS_H_

#include <limits>
#include <memory>
#include <string>

#include "env/serve/calls.h"
#include "reward/result_fields.h"  // the record, which a reply holds

namespace touchstone::wire {

// What a field of a request must keep to. Replies are ours: there only the types are checked.
struct Rule {
  double low = -std::numeric_limits<double>::infinity();  // of numbers, and of milliseconds
  double high = std::numeric_limits<double>::infinity();
  size_t max_bytes = 256;     // of texts, of each one in a list
  size_t max_count = 10'000;  // of lists
  bool needed = false;
  bool is_source = false;  // max_bytes is Limits::max_source_bytes
};

constexpr Rule Number(double low, double high) { return Rule{.low = low, .high = high}; }
constexpr Rule kNeeded{.needed = true};
constexpr Rule kSource{.is_source = true};
constexpr Rule kDuration = Number(0, 7.0 * 24 * 3600 * 1000);
constexpr Rule kPriority = Number(-10, 10);

template <typename V, typename T>
void Fields(V& v, T& t);

// --- asked ----------------------------------------------------------------------------------------------------------

template <typename V, typename T>
void Fields(V&, T&, const DescribeRequest*) {}
template <typename V, typename T>
void Fields(V&, T&, const HealthRequest*) {}
template <typename V, typename T>
void Fields(V&, T&, const MetricsRequest*) {}

template <typename V, typename T>
void Fields(V& v, T& t, const ResetRequest*) {
  v("tasks", t.tasks, Rule{.max_count = 4096});
  v("method", t.method);
  v("seed", t.seed);
  v("profile", t.profile);
  v("reward", t.reward);
  v("size", t.size);
  v("max_turns", t.max_turns, Number(1, 1000));
  v("target_speedup", t.target_speedup, Number(0, 1e9));
  v("budget_ms", t.budget, kDuration);
  v("exemplars", t.exemplars, Number(0, 64));
  v("selector", t.selector);
  v("exemplars_as_of", t.exemplars_as_of);
  v("group_id", t.group_id);
  v("policy_version", t.policy_version);
  v("baseline_source", t.baseline_source, kSource);
}

template <typename V, typename T>
void Fields(V& v, T& t, const StepRequest*) {
  v("session", t.session, kNeeded);
  v.OneOf("source", t.action.source, "response", t.action.response, kSource);
  v("turn", t.turn, Number(-1, 1e6));
  v("deadline_ms", t.deadline, kDuration);
  v("priority", t.priority, kPriority);
  v("prompt_hash", t.prompt_hash);
  v("policy_version", t.policy_version);
}

template <typename V, typename T>
void Fields(V& v, T& t, const ScoreRequest*) {
  v("task", t.task, kNeeded);
  v.OneOf("source", t.action.source, "response", t.action.response, kSource);
  v("method", t.method);
  v("profile", t.profile);
  v("reward", t.reward);
  v("size", t.size);
  v("baseline_source", t.baseline_source, kSource);
  v("deadline_ms", t.deadline, kDuration);
  v("priority", t.priority, kPriority);
  v("group_id", t.group_id);
  v("policy_version", t.policy_version);
  v("prompt_hash", t.prompt_hash);
}

template <typename V, typename T>
void Fields(V& v, T& t, const ValidateRequest*) {
  v("rollout", t.rollout, kNeeded);
  v("deadline_ms", t.deadline, kDuration);
  v("priority", t.priority, kPriority);
}

template <typename V, typename T>
void Fields(V& v, T& t, const SubmitRequest*) {
  std::string call = t.call.index() == 0 ? "step" : "score";
  v("call", call, kNeeded);
  if constexpr (V::kReads) {
    if (call == "score") t.call = ScoreRequest();
    if (call != "score" && call != "step") return v.Fail("call", "is neither 'step' nor 'score'");
  }
  std::visit([&](auto& inner) { Fields(v, inner); }, t.call);
}

template <typename V, typename T>
void Fields(V& v, T& t, const CollectRequest*) {
  v("ids", t.ids, Rule{.max_bytes = kMaxIdBytes});
  v("max", t.max, Number(1, 10'000));
  v("wait_ms", t.wait, Number(0, 3600.0 * 1000));
  v("ack", t.ack, Rule{.max_bytes = kMaxIdBytes});
}

template <typename V, typename T>
void Fields(V& v, T& t, const CancelRequest*) {
  v("id", t.id, kNeeded);
}

template <typename V, typename T>
void Fields(V& v, T& t, const SelectionRequest*) {
  v("task", t.task, kNeeded);
  v("selector", t.selector);
  v("count", t.count, Number(1, 1024));
  v("seed", t.seed);
  v("as_of", t.as_of);
  v("group_id", t.group_id);
  v("temperature", t.temperature, Number(1e-9, 1e9));
  v("bucket_width", t.bucket_width, Number(1e-9, 1e9));
}

template <typename V, typename T>
void Fields(V& v, T& t, const CloseRequest*) {
  v("session", t.session, kNeeded);
}

// --- answered -------------------------------------------------------------------------------------------------------

template <typename V, typename T>
void Fields(V& v, T& t, const Exemplar*) {
  v("rollout", t.rollout);
  v("source", t.source);
  v("score", t.score);
  v("probability", t.probability);
}

template <typename V, typename T>
void Fields(V& v, T& t, const TaskText*) {
  v("task", t.task);
  v("statement", t.statement);
  v("interface_name", t.interface_name);
  v("signature", t.signature);
  v("header", t.header);
  v("reference", t.reference);
  v("device", t.device);
}

// One map with the fields of its text.
template <typename V, typename T>
void Fields(V& v, T& t, const Observation*) {
  if constexpr (V::kReads) {
    auto text = std::make_shared<TaskText>();
    Fields(v, *text);
    t.text = std::move(text);
  } else {
    Fields(v, *t.text);
  }
  v("turn", t.turn);
  v("turns_left", t.turns_left);
  v("seconds_left", t.seconds_left);
  v("best_speedup", t.best_speedup);
  v("outcome", t.outcome);
  v("feedback", t.feedback);
  v("exemplars", t.exemplars);
  v("prompt", t.prompt);
}

template <typename V, typename T>
void Fields(V& v, T& t, const ResetReply*) {
  v("session", t.session);
  v("observation", t.observation);
  v("reward_preset", t.reward_preset);
  v("reward_low", t.reward_low);
  v("reward_high", t.reward_high);
  v("exemplars_as_of", t.exemplars_as_of);
}

template <typename V, typename T>
void Fields(V& v, T& t, const RewardTerm*) {
  v("name", t.name);
  v("value", t.value);
  v("why_undefined", t.why_undefined);
}

template <typename V, typename T>
void Fields(V& v, T& t, const RolloutInfo*) {
  v("rollout", t.rollout);
  v("result", t.result);
  v("terms", t.terms.terms);
  v("why_none", t.terms.why_none);
  v("reward_preset", t.reward_preset);
  v("code_begin", t.code_begin);
  v("code_end", t.code_end);
  v("code_length", t.code_length);
}

template <typename V, typename T>
void Fields(V& v, T& t, const StepReply*) {
  v("session", t.session);
  v("observation", t.observation);
  v("reward", t.reward);
  v("reward_increment", t.reward_increment);
  v("best_speedup", t.best_speedup);
  v("terminated", t.terminated);
  v("truncated", t.truncated);
  v("info", t.info);
  if constexpr (V::kReads) t.info.terms.value = t.reward;
}

template <typename V, typename T>
void Fields(V& v, T& t, const ScoreReply*) {
  v("reward", t.reward);
  v("info", t.info);
  if constexpr (V::kReads) t.info.terms.value = t.reward;
}

template <typename V, typename T>
void Fields(V& v, T& t, const ValidateReply*) {
  v("again", t.again);
  v("stored_speedup", t.stored_speedup);
  v("ratio", t.ratio);
  v("agrees", t.agrees);
}

template <typename V, typename T>
void Fields(V& v, T& t, const RewardFacts*) {
  v("name", t.name);
  v("low", t.low);
  v("high", t.high);
  v("formula", t.formula);
  v("source", t.source);
}

template <typename V, typename T>
void Fields(V& v, T& t, const DescribeReply*) {
  v("version", t.version);
  v("tasks", t.tasks);
  v("methods", t.methods);
  v("rewards", t.rewards);
  v("profiles", t.profiles);
  v("selectors", t.selectors);
  v("limits", t.limits);
  v("device", t.device);
}

template <typename V, typename T>
void Fields(V& v, T& t, const SubmitReply*) {
  v("accepted", t.accepted);
}

template <typename V, typename T>
void Fields(V& v, T& t, const Collected*) {
  v("id", t.id);
  v("ok", t.ok);
  v("call", t.call);
  v.Embedded(t.ok ? "reply" : "error", t.payload);
}

template <typename V, typename T>
void Fields(V& v, T& t, const CollectReply*) {
  v("results", t.results);
  v("pending", t.pending);
}

template <typename V, typename T>
void Fields(V& v, T& t, const CancelReply*) {
  v("cancelled", t.cancelled);
}

template <typename V, typename T>
void Fields(V& v, T& t, const SampledRollout*) {
  v("rollout", t.rollout);
  v("sequence", t.sequence);
  v("source", t.source);
  v("score", t.score);
  v("probability", t.probability);
}

template <typename V, typename T>
void Fields(V& v, T& t, const SampleReply*) {
  v("items", t.items);
  v("as_of", t.as_of);
}

template <typename V, typename T>
void Fields(V& v, T& t, const CloseReply*) {
  v("closed", t.closed);
}

template <typename V, typename T>
void Fields(V& v, T& t, const SlotFacts*) {
  v("name", t.name);
  v("state", t.state);
  v("why", t.why);
  v("cpus", t.cpus);
  v("untimed", t.untimed);
}

template <typename V, typename T>
void Fields(V& v, T& t, const HealthReply*) {
  v("ok", t.ok);
  v("uptime_s", t.uptime_s);
  v("silent_s", t.silent_s);
  v("slots", t.slots);
  v("waiting", t.waiting);
  v("running", t.running);
  v("sessions", t.sessions);
  v("store", t.store);
}

template <typename V, typename T>
void Fields(V& v, T& t, const MetricsReply*) {
  v("text", t.text);
}

template <typename V, typename T>
void Fields(V& v, T& t, const CallError*) {
  v("code", t.code);
  v("message", t.message);
  v("field", t.field);
  v("limit", t.limit);
  v("retry_after_ms", t.retry_after_ms);
  v.Derived("fault", [&] { return FaultOf(t); });
}

template <typename V, typename T>
void Fields(V& v, T& t) {
  Fields(v, t, static_cast<const std::remove_const_t<T>*>(nullptr));
}

}  // namespace touchstone::wire

#endif  // TOUCHSTONE_ENV_SERVE_WIRE_FIELDS_H_

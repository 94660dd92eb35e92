// What a caller says to an environment and what it answers: plain structs, the same in process and on the wire
// (docs/wire.md has every field).
#ifndef TOUCHSTONE_ENV_MESSAGES_H_
#define TOUCHSTONE_ENV_MESSAGES_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reward/presets/preset.h"
#include "reward/result.h"
#include "rollout/record.h"

namespace touchstone {

// --- asked ----------------------------------------------------------------------------------------------------------

struct ResetRequest {
  RequestKey key;
  std::vector<std::string> tasks;  // draw one of these by `seed`; one name fixes it; empty: all of the catalogue
  std::string method = "default";  // configs/methods/<name>.yaml: profile, reward, feedback, exemplars
  uint64_t seed = 0;               // fixes task, exemplars and texts; never the judge's keys
  // What the method says, unless set here.
  std::optional<std::string> profile;
  std::optional<std::string> reward;
  std::optional<std::string> size;
  std::optional<int> max_turns;
  std::optional<double> target_speedup;             // an episode that reaches it has terminated
  std::optional<std::chrono::milliseconds> budget;  // wall clock of the episode
  std::optional<int> exemplars;                     // how many stored rollouts the first observation shows
  std::optional<std::string> selector;
  uint64_t exemplars_as_of = 0;  // SelectionRequest::as_of: the same seed and this give the same exemplars
  std::string group_id;
  std::string policy_version;
  std::optional<std::string> baseline_source;  // another candidate as the baseline
};

// Source, or a model's whole answer of which the last fenced block of the interface's language is taken.
struct Action {
  std::string source;
  std::string response;  // exactly one of the two is set
};

struct StepRequest {
  RequestKey key;
  std::string session;
  Action action;
  int turn =
      -1;  // the turn that the caller means; -1: whichever is next. Another one is refused: nothing is done twice
  std::chrono::milliseconds deadline{0};  // from now, waiting included; 0: none
  int priority = 0;                       // higher is sooner; −10 … 10
  std::string prompt_hash;
  std::string policy_version;  // empty: the session's
};

// One candidate without an episode.
struct ScoreRequest {
  RequestKey key;
  std::string task;
  Action action;
  std::string method = "default";
  std::optional<std::string> profile;
  std::optional<std::string> reward;
  std::optional<std::string> size;
  std::optional<std::string> baseline_source;
  std::chrono::milliseconds deadline{0};
  int priority = 0;
  std::string group_id;
  std::string policy_version;
  std::string prompt_hash;
};

// Measures a stored rollout again, as `touchstone reproduce` does.
struct ValidateRequest {
  RequestKey key;
  std::string rollout;
  std::chrono::milliseconds deadline{0};
  int priority = 0;
};

// --- answered -------------------------------------------------------------------------------------------------------

struct Exemplar {
  std::string rollout;
  std::string source;
  double score = 0;
  double probability = 0;
};

// What all observations of a task have in common: rendered once and shared. Never changes.
struct TaskText {
  std::string task;
  std::string statement;  // Markdown: what to compute, inputs, outputs, tolerance, policy
  std::string interface_name;
  std::string signature;
  std::string header;
  std::string reference;  // source of the reference
  std::map<std::string, std::string> device;
};

// What a policy sees. Everything in it may go into a prompt (V14). On the wire it is one map: the fields of `text`
// stand beside the others.
struct Observation {
  std::shared_ptr<const TaskText> text;  // never null
  int turn = 0;                          // the next one, from 0
  int turns_left = 0;
  std::optional<double> seconds_left;
  double best_speedup = 0;
  std::string outcome;   // status of the last step; empty after reset
  std::string feedback;  // text on the last step, by outcome class; empty after reset
  std::vector<Exemplar> exemplars;
  std::string prompt;  // as one text, the message for the next turn: all of it after reset, what is new after a step
};

struct ResetReply {
  std::string session;
  Observation observation;
  std::string reward_preset;
  double reward_low = 0;
  double reward_high = 0;
  uint64_t exemplars_as_of = 0;
};

// What is said of one rollout besides the observation. Never an expected value, a key, or a hidden trial's numbers.
struct RolloutInfo {
  std::string rollout;
  EvalResult result;  // PublicView of it
  Reward terms;
  std::string reward_preset;
  int64_t code_begin = -1;  // in the response, in characters
  int64_t code_end = -1;
  int64_t code_length = 0;  // characters of the source
};

struct StepReply {
  std::string session;
  Observation observation;
  std::optional<double> reward;  // none: no reward may follow (info.terms.why_none)
  double reward_increment = 0;
  double best_speedup = 0;
  bool terminated = false;
  bool truncated = false;
  RolloutInfo info;
};

struct ScoreReply {
  std::optional<double> reward;
  RolloutInfo info;
};

struct ValidateReply {
  ScoreReply again;
  double stored_speedup = 0;
  double ratio = 0;     // again / stored; 0 where one of them has none
  bool agrees = false;  // same status, and for successes the intervals overlap or differ by less than 10 %
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_MESSAGES_H_

// What is kept of one step, or of one scored candidate (design §11), and of one episode.
#ifndef TOUCHSTONE_ROLLOUT_RECORD_H_
#define TOUCHSTONE_ROLLOUT_RECORD_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reward/result.h"

namespace touchstone {

using UnixMicros = std::chrono::microseconds;  // since 1970, UTC

// A request by which something came into the store: unique there.
struct RequestKey {
  std::string client;
  std::string request_id;

  auto operator<=>(const RequestKey&) const = default;
};

// One episode: what reset() resolved. Its steps are the rollouts that carry its id; nothing else of it is stored, so
// that a session can be rebuilt from its record and its rollouts.
struct SessionRecord {
  std::string id;
  RequestKey request;  // the reset
  UnixMicros opened{};
  UnixMicros closed{};     // 0: open
  std::string why_closed;  // "close", "idle", "terminated", "truncated"
  std::string spec;        // JSON of the resolved SessionSpec (env/messages.h)
};

struct RolloutRecord {
  uint64_t sequence = 0;  // given by the store: increasing in the order of commits
  std::string id;         // of this rollout, unique over all stores
  RequestKey request;
  UnixMicros time{};

  // Lineage.
  std::string session;  // empty: a scored candidate
  int turn = 0;         // from 0
  std::string task;
  std::string group_id;
  std::string parent;                  // rollout id of the step before, or that this one measures again
  std::vector<std::string> exemplars;  // rollout ids that the prompt showed
  std::string policy_version;
  std::string prompt_hash;

  // What was submitted.
  std::string response;     // the model's raw text; empty where source was submitted
  std::string source;       // the candidate
  int64_t code_begin = -1;  // span of the code in `response`, in characters (Unicode code points); -1: none
  int64_t code_end = -1;

  // What it was worth. `result` is the full record, the judge's key included.
  EvalResult result;
  std::string reward_preset;
  std::optional<double> reward;
  double reward_increment = 0;
  double best_speedup = 0;  // of the episode, this step included
  bool terminated = false;
  bool truncated = false;

  // The score that selectors use: the rewarded speedup of a success without suspicious or condemning evidence.
  // None: never an exemplar. A success that nothing timed has none, nor one against another
  // baseline than the task's reference: whoever chooses a slow one would top the list.
  std::optional<double> score() const;
};

// A request that was accepted and is not finished; after a restart it is taken up again.
struct PendingRecord {
  RequestKey request;
  UnixMicros accepted{};
  std::string payload;  // opaque to the store
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_RECORD_H_

#ifndef TOUCHSTONE_ENV_EPISODE_SESSION_H_
#define TOUCHSTONE_ENV_EPISODE_SESSION_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "env/episode/replies.h"

namespace touchstone {

// Where an episode stands: a function of its rollouts. Small, since thousands are open.
struct Standing {
  int turn = 0;  // the next one
  double best_speedup = 0;
  std::optional<double> best_reward;
  std::string parent;  // rollout of the step before
};

// What a rollout changes in the standing of its episode.
struct Taken {
  explicit Taken(const RolloutRecord& rollout);

  uint64_t key_hash = 0;
  int turn = 0;
  std::string id;
  std::optional<double> reward;
  double best_speedup = 0;
  std::string why_ended;  // "terminated", "truncated"; empty: the episode goes on
};

// One open episode. One step at a time. Thread-safe.
class Session {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  Session(std::shared_ptr<const Episode> episode, SteadyTime now);

  const std::shared_ptr<const Episode>& episode() const { return episode_; }

  // What is to be done for a step.
  struct Begun {
    enum class Kind {
      kStarted,   // `standing` is where it starts; Advance or Abandon must follow
      kAnswered,  // this key was answered before
      kUnloaded,  // this object is out of use: look the session up again
    };
    Kind kind = Kind::kStarted;
    Standing standing;
  };
  // kClosed; kConflict: a step is in flight, or `turn` (-1: any) is another than the next. An error changes nothing.
  Result<Begun> Begin(const RequestKey& key, int turn, UnixMicros time, SteadyTime now);
  void Abandon(SteadyTime now);
  // Takes a rollout in that is durable: the one of the step that began, or one of before, in order.
  void Advance(const Taken& taken, SteadyTime now);

  // False: it was closed before.
  bool Close(const std::string& why);
  // The key of the step that is in flight.
  std::optional<RequestKey> InFlight();
  bool IsIdle(SteadyTime since);
  // Its wall-clock budget is used up.
  bool IsOver(UnixMicros time) const;
  // True: nothing was in flight, and from now on Begin says kUnloaded. `used`: its last step.
  bool Unload(SteadyTime since, SteadyTime& used);

 private:
  const std::shared_ptr<const Episode> episode_;
  Mutex mutex_;
  Standing standing_ TOUCHSTONE_GUARDED_BY(mutex_);
  std::vector<uint64_t> answered_ TOUCHSTONE_GUARDED_BY(mutex_);  // hashes of the keys of its rollouts
  std::unique_ptr<RequestKey> in_flight_ TOUCHSTONE_GUARDED_BY(mutex_);
  std::string why_closed_ TOUCHSTONE_GUARDED_BY(mutex_);  // empty: open
  bool unloaded_ TOUCHSTONE_GUARDED_BY(mutex_) = false;
  SteadyTime used_ TOUCHSTONE_GUARDED_BY(mutex_);
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_SESSION_H_

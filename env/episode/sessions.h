#ifndef TOUCHSTONE_ENV_EPISODE_SESSIONS_H_
#define TOUCHSTONE_ENV_EPISODE_SESSIONS_H_

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "env/episode/session.h"

namespace touchstone {

// The open episodes: those in memory, and, where there is a store, those that are only there. Thread-safe.
class Sessions {
 public:
  using SteadyTime = Session::SteadyTime;

  // False: there are `max` already.
  bool Add(std::shared_ptr<Session> session, size_t max);
  // Puts a session that was read from the store beside the others; answers with the one that is there already. One that
  // has ended meanwhile is closed and not put there.
  std::shared_ptr<Session> AddLoaded(std::shared_ptr<Session> session);
  // Open, but only in the store.
  void AddUnloaded(const std::string& id, SteadyTime used);
  std::shared_ptr<Session> Find(const std::string& id);
  void Remove(const std::string& id, const std::string& why_ended);
  // Why one of the last to be removed has ended.
  std::optional<std::string> WhyEnded(const std::string& id);
  size_t size();

  struct Closed {
    std::string id;
    std::string why;  // "idle", "truncated"
  };
  // Closes and removes those without a step since then, and those whose budget is over.
  std::vector<Closed> CloseIdle(SteadyTime since, UnixMicros time);
  // Leaves those without a step since then to the store.
  void Unload(SteadyTime since);

 private:
  void NoteEnded(const std::string& id, const std::string& why) TOUCHSTONE_REQUIRES(mutex_);

  Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Session>> loaded_ TOUCHSTONE_GUARDED_BY(mutex_);
  std::unordered_map<std::string, SteadyTime> unloaded_ TOUCHSTONE_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::string> ended_ TOUCHSTONE_GUARDED_BY(mutex_);
  std::deque<std::string> ended_order_ TOUCHSTONE_GUARDED_BY(mutex_);
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_SESSIONS_H_

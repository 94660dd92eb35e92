#include "env/episode/session.h"

#include <algorithm>
#include <utility>

#include "env/episode/answers.h"

namespace touchstone {
namespace {

uint64_t HashOf(const RequestKey& key) { return RequestKeyHash()(key); }

Error Ended(const std::string& id, const std::string& why) {
  return Error(ErrorCode::kClosed, "session '" + id + "' has ended: " + why);
}

}  // namespace

Taken::Taken(const RolloutRecord& rollout)
    : key_hash(HashOf(rollout.request)),
      turn(rollout.turn),
      id(rollout.id),
      reward(rollout.reward),
      best_speedup(rollout.best_speedup),
      why_ended(rollout.terminated  ? "terminated"
                : rollout.truncated ? "truncated"
                                    : "") {}

Session::Session(std::shared_ptr<const Episode> episode, SteadyTime now) : episode_(std::move(episode)), used_(now) {}

Result<Session::Begun> Session::Begin(const RequestKey& key, int turn, UnixMicros time, SteadyTime now) {
  const SessionSpec& spec = episode_->spec;
  const MutexLock lock(mutex_);
  if (unloaded_) return Begun{Begun::Kind::kUnloaded, {}};
  if (std::find(answered_.begin(), answered_.end(), HashOf(key)) != answered_.end()) {
    return Begun{Begun::Kind::kAnswered, {}};
  }
  if (!why_closed_.empty()) return Ended(episode_->id, why_closed_);
  if (in_flight_) {
    return Error(ErrorCode::kConflict, "session '" + episode_->id + "': turn " + std::to_string(standing_.turn) +
                                           " is in flight; one step at a time");
  }
  if (turn != -1 && turn != standing_.turn) {
    return Error(ErrorCode::kConflict,
                 "turn: the next one is " + std::to_string(standing_.turn) + ", not " + std::to_string(turn));
  }
  if (IsOver(time)) {
    return Ended(episode_->id, "truncated: its budget of " + std::to_string(spec.budget->count()) + " ms is over");
  }
  in_flight_ = std::make_unique<RequestKey>(key);
  used_ = now;
  return Begun{Begun::Kind::kStarted, standing_};
}

bool Session::IsOver(UnixMicros time) const {
  const SessionSpec& spec = episode_->spec;
  return spec.budget && time - episode_->opened >= *spec.budget;
}

void Session::Abandon(SteadyTime now) {
  const MutexLock lock(mutex_);
  in_flight_.reset();
  used_ = now;
}

void Session::Advance(const Taken& taken, SteadyTime now) {
  const MutexLock lock(mutex_);
  in_flight_.reset();
  used_ = now;
  answered_.push_back(taken.key_hash);
  standing_.turn = taken.turn + 1;
  standing_.best_speedup = taken.best_speedup;
  if (taken.reward && (!standing_.best_reward || *taken.reward > *standing_.best_reward)) {
    standing_.best_reward = taken.reward;
  }
  standing_.parent = taken.id;
  if (why_closed_.empty()) why_closed_ = taken.why_ended;
}

bool Session::Close(const std::string& why) {
  const MutexLock lock(mutex_);
  if (!why_closed_.empty()) return false;
  why_closed_ = why;
  return true;
}

std::optional<RequestKey> Session::InFlight() {
  const MutexLock lock(mutex_);
  if (!in_flight_) return std::nullopt;
  return *in_flight_;
}

bool Session::IsIdle(SteadyTime since) {
  const MutexLock lock(mutex_);
  return !in_flight_ && used_ <= since;
}

bool Session::Unload(SteadyTime since, SteadyTime& used) {
  const MutexLock lock(mutex_);
  if (in_flight_ || used_ > since) return false;
  unloaded_ = true;
  used = used_;
  return true;
}

}  // namespace touchstone

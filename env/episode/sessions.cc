#include "env/episode/sessions.h"

#include <utility>

namespace touchstone {
namespace {

constexpr size_t kRememberedEnds = 10'000;

}  // namespace

bool Sessions::Add(std::shared_ptr<Session> session, size_t max) {
  const MutexLock lock(mutex_);
  if (loaded_.size() + unloaded_.size() >= max) return false;
  const std::string id = session->episode()->id;
  loaded_.emplace(id, std::move(session));
  return true;
}

std::shared_ptr<Session> Sessions::AddLoaded(std::shared_ptr<Session> session) {
  const MutexLock lock(mutex_);
  const std::string id = session->episode()->id;
  if (const auto ended = ended_.find(id); ended != ended_.end()) {  // its end need not be in the store yet
    session->Close(ended->second);
    return session;
  }
  unloaded_.erase(id);
  return loaded_.emplace(id, std::move(session)).first->second;
}

void Sessions::AddUnloaded(const std::string& id, SteadyTime used) {
  const MutexLock lock(mutex_);
  unloaded_.emplace(id, used);
}

std::shared_ptr<Session> Sessions::Find(const std::string& id) {
  const MutexLock lock(mutex_);
  const auto at = loaded_.find(id);
  return at == loaded_.end() ? nullptr : at->second;
}

void Sessions::Remove(const std::string& id, const std::string& why_ended) {
  const MutexLock lock(mutex_);
  loaded_.erase(id);
  unloaded_.erase(id);
  NoteEnded(id, why_ended);
}

void Sessions::NoteEnded(const std::string& id, const std::string& why) {
  if (!ended_.emplace(id, why).second) return;
  ended_order_.push_back(id);
  if (ended_order_.size() <= kRememberedEnds) return;
  ended_.erase(ended_order_.front());
  ended_order_.pop_front();
}

std::optional<std::string> Sessions::WhyEnded(const std::string& id) {
  const MutexLock lock(mutex_);
  const auto at = ended_.find(id);
  if (at == ended_.end()) return std::nullopt;
  return at->second;
}

size_t Sessions::size() {
  const MutexLock lock(mutex_);
  return loaded_.size() + unloaded_.size();
}

std::vector<Sessions::Closed> Sessions::CloseIdle(SteadyTime since, UnixMicros time) {
  std::vector<Closed> closed;
  const MutexLock lock(mutex_);
  for (auto at = loaded_.begin(); at != loaded_.end();) {
    Session& session = *at->second;
    const bool over = session.IsOver(time) && !session.InFlight();
    const std::string why = over ? "truncated" : "idle";
    if ((over || session.IsIdle(since)) && session.Close(why)) {
      closed.push_back({at->first, why});
      at = loaded_.erase(at);
    } else {
      ++at;
    }
  }
  for (auto at = unloaded_.begin(); at != unloaded_.end();) {
    if (at->second <= since) {
      closed.push_back({at->first, "idle"});
      at = unloaded_.erase(at);
    } else {
      ++at;
    }
  }
  for (const Closed& one : closed) NoteEnded(one.id, one.why);
  return closed;
}

void Sessions::Unload(SteadyTime since) {
  const MutexLock lock(mutex_);
  for (auto at = loaded_.begin(); at != loaded_.end();) {
    SteadyTime used;
    if (at->second->Unload(since, used)) {
      unloaded_.emplace(at->first, used);
      at = loaded_.erase(at);
    } else {
      ++at;
    }
  }
}

}  // namespace touchstone

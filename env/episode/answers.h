#ifndef TOUCHSTONE_ENV_EPISODE_ANSWERS_H_
#define TOUCHSTONE_ENV_EPISODE_ANSWERS_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "env/messages.h"

namespace touchstone {

struct RequestKeyHash {
  size_t operator()(const RequestKey& key) const {
    const std::hash<std::string> hash;
    return hash(key.client) * 31 + hash(key.request_id);
  }
};

// One piece of work for each request key: who asks for it while it is being done gets the same answer. Answers, not
// errors, are remembered: the last `remembered` of them, for environments without a store. Thread-safe; callbacks run
// outside the lock.
class Answers {
 public:
  template <typename Reply>
  using Done = std::function<void(Result<Reply>)>;

  explicit Answers(size_t remembered) : remembered_(remembered) {}

  // True: the caller is the first, does the work, and then calls Finish. False: `done` was called with the answer of
  // before, or will be when it is there, or got kConflict since the key stands for another kind of request.
  template <typename Reply>
  bool Join(const RequestKey& key, Done<Reply> done) {
    std::optional<Result<Reply>> answer;
    {
      const MutexLock lock(mutex_);
      const auto [at, fresh] = entries_.try_emplace(key, Entry<Reply>{});
      auto* entry = std::get_if<Entry<Reply>>(&at->second);
      if (entry == nullptr) {
        answer = Error(ErrorCode::kConflict, "request id '" + key.request_id + "' was used for another call");
      } else if (entry->answer) {
        answer = *entry->answer;
      } else {
        entry->waiting.push_back(std::move(done));
        return fresh;
      }
    }
    done(std::move(*answer));
    return false;
  }

  template <typename Reply>
  void Finish(const RequestKey& key, Result<Reply> answer) {
    std::vector<Done<Reply>> waiting;
    {
      const MutexLock lock(mutex_);
      const auto at = entries_.find(key);
      TOUCHSTONE_CHECK(at != entries_.end(), "Finish without Join");
      auto& entry = std::get<Entry<Reply>>(at->second);
      waiting = std::move(entry.waiting);
      if (answer.ok() && remembered_ > 0) {
        entry.answer = *answer;
        order_.push_back(key);
        if (order_.size() > remembered_) {
          entries_.erase(order_.front());
          order_.pop_front();
        }
      } else {
        entries_.erase(at);
      }
    }
    for (size_t i = 0; i + 1 < waiting.size(); ++i) waiting[i](answer);
    waiting.back()(std::move(answer));
  }

  // What is remembered under this key.
  template <typename Reply>
  std::optional<Reply> Find(const RequestKey& key) {
    const MutexLock lock(mutex_);
    const auto at = entries_.find(key);
    if (at == entries_.end()) return std::nullopt;
    const auto* entry = std::get_if<Entry<Reply>>(&at->second);
    return entry == nullptr ? std::nullopt : entry->answer;
  }

 private:
  template <typename Reply>
  struct Entry {
    std::optional<Reply> answer;
    std::vector<Done<Reply>> waiting;
  };
  using AnyEntry = std::variant<Entry<ResetReply>, Entry<StepReply>, Entry<ScoreReply>, Entry<ValidateReply>>;

  const size_t remembered_;
  Mutex mutex_;
  std::unordered_map<RequestKey, AnyEntry, RequestKeyHash> entries_ TOUCHSTONE_GUARDED_BY(mutex_);
  std::deque<RequestKey> order_ TOUCHSTONE_GUARDED_BY(mutex_);  // of the remembered ones, oldest first
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_ANSWERS_H_

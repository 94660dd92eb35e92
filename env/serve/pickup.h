#ifndef TOUCHSTONE_ENV_SERVE_PICKUP_H_
#define TOUCHSTONE_ENV_SERVE_PICKUP_H_

#include <chrono>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "env/serve/calls.h"
#include "env/serve/router.h"

namespace touchstone {

// Results that wait for their client to collect them, and collects that wait for a result. One thread.
//
// A result is handed out again until it is acknowledged. Only so many are kept, of all clients together: beyond, the
// oldest go (a store still has them).
class Pickup {
 public:
  using Clock = std::chrono::steady_clock;
  struct Answer {
    Route route;
    wire::CollectReply reply;
  };

  explicit Pickup(size_t max_kept) : max_kept_(max_kept) {}

  enum class State { kUnknown, kPending, kFinished, kFailed };  // failed: an error, which is no answer
  State Find(const RequestKey& key) const;

  // A result will come.
  void Expect(const RequestKey& key);
  // None will come, after all.
  void Forget(const RequestKey& key);
  // A result has come; what of it was being waited for goes to `answers`.
  void Put(const RequestKey& key, wire::Collected result, std::vector<Answer>& answers);

  // Acknowledges, and answers at once or keeps the collect until a result comes or its time is over. `strangers`: ids
  // that nobody knows; they are answered as such.
  std::optional<wire::CollectReply> Collect(const Route& route, const std::string& client,
                                            const wire::CollectRequest& request,
                                            const std::vector<wire::Collected>& strangers);
  // Collects whose time is over.
  void Expire(Clock::time_point now, std::vector<Answer>& answers);
  // Before this, there is none.
  Clock::time_point next_deadline() const { return next_deadline_; }
  size_t kept() const { return kept_.size(); }

 private:
  struct Entry {
    uint64_t place = 0;  // in the order of finishing; 0: pending
    wire::Collected result;
  };
  struct Waiting {
    Route route;
    wire::CollectRequest request;
    Clock::time_point until;
  };
  struct Client {
    std::unordered_map<std::string, Entry> entries;
    std::map<uint64_t, std::string> finished;  // by place
    std::list<Waiting> waiting;
  };

  wire::CollectReply Take(const Client& client, const wire::CollectRequest& request) const;
  void Erase(std::map<std::string, Client>::iterator client, const std::string& id);

  const size_t max_kept_;
  std::map<std::string, Client> clients_;
  std::map<uint64_t, RequestKey> kept_;  // finished ones of all clients, by place
  uint64_t places_ = 0;
  Clock::time_point next_deadline_ = Clock::time_point::max();
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_PICKUP_H_

#ifndef TOUCHSTONE_ENV_SERVE_WAIT_QUEUE_H_
#define TOUCHSTONE_ENV_SERVE_WAIT_QUEUE_H_

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "env/evaluations.h"

namespace touchstone {

// A job on its way through the scheduler.
struct ScheduledJob {
  EvaluationJob job;
  std::chrono::steady_clock::time_point arrived;
  int faults = 0;            // slots that it met with an environment fault
  std::string faulted_slot;  // the last of them
  std::chrono::steady_clock::time_point faulted_at;
  bool cancelled = false;
  bool answered = false;  // `done` was called
};

// Jobs that wait for a slot. Fair: clients take turns, whatever they ask for; a client's own jobs go by priority, then
// by arrival. One thread at a time. Push and Remove take O(log n), Pop the same where the first job may be taken.
class WaitQueue {
 public:
  size_t size() const { return places_.size(); }
  bool Contains(const RequestKey& key) const { return places_.count(key) != 0; }

  // False: a job of that key waits already.
  bool Push(std::unique_ptr<ScheduledJob> job);
  // The next job that `may` lets through; null: there is none.
  std::unique_ptr<ScheduledJob> Pop(const std::function<bool(const ScheduledJob&)>& may);
  // Null: no such job.
  std::unique_ptr<ScheduledJob> Remove(const RequestKey& key);
  // Any one; null: empty.
  std::unique_ptr<ScheduledJob> PopAny();

 private:
  using Order = std::pair<int, uint64_t>;  // (-priority, arrival)
  struct Client {
    std::string name;
    std::map<Order, std::unique_ptr<ScheduledJob>> jobs;
  };
  using Turn = std::list<Client>::iterator;

  std::unique_ptr<ScheduledJob> Take(Turn client, Order order);

  std::list<Client> turns_;  // the client at the front is next
  std::map<std::string, Turn, std::less<>> clients_;
  std::map<RequestKey, Order> places_;
  uint64_t arrivals_ = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_WAIT_QUEUE_H_

#include "env/serve/wait_queue.h"

namespace touchstone {

bool WaitQueue::Push(std::unique_ptr<ScheduledJob> job) {
  const RequestKey& key = job->job.key;
  // What was on a slot already has waited its turn.
  const Order order{job->faults > 0 ? -1000 : -job->job.priority, arrivals_++};
  if (!places_.emplace(key, order).second) return false;
  auto client = clients_.find(key.client);
  if (client == clients_.end()) {
    turns_.push_back({key.client, {}});
    client = clients_.emplace(key.client, std::prev(turns_.end())).first;
  }
  client->second->jobs.emplace(order, std::move(job));
  return true;
}

std::unique_ptr<ScheduledJob> WaitQueue::Pop(const std::function<bool(const ScheduledJob&)>& may) {
  for (auto client = turns_.begin(); client != turns_.end(); ++client) {
    for (const auto& [order, job] : client->jobs) {
      if (!may(*job)) continue;
      turns_.splice(turns_.end(), turns_, client);
      return Take(client, order);
    }
  }
  return nullptr;
}

std::unique_ptr<ScheduledJob> WaitQueue::Remove(const RequestKey& key) {
  const auto place = places_.find(key);
  return place == places_.end() ? nullptr : Take(clients_.find(key.client)->second, place->second);
}

std::unique_ptr<ScheduledJob> WaitQueue::PopAny() {
  return Pop([](const ScheduledJob&) { return true; });
}

std::unique_ptr<ScheduledJob> WaitQueue::Take(Turn client, Order order) {
  auto node = client->jobs.extract(order);
  places_.erase(node.mapped()->job.key);
  if (client->jobs.empty()) {
    clients_.erase(client->name);
    turns_.erase(client);
  }
  return std::move(node.mapped());
}

}  // namespace touchstone

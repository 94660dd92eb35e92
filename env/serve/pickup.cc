#include "env/serve/pickup.h"

#include <algorithm>

namespace touchstone {

Pickup::State Pickup::Find(const RequestKey& key) const {
  const auto client = clients_.find(key.client);
  if (client == clients_.end()) return State::kUnknown;
  const auto entry = client->second.entries.find(key.request_id);
  if (entry == client->second.entries.end()) return State::kUnknown;
  if (entry->second.place == 0) return State::kPending;
  return entry->second.result.ok ? State::kFinished : State::kFailed;
}

void Pickup::Expect(const RequestKey& key) {
  Forget(key);
  clients_[key.client].entries.emplace(key.request_id, Entry());
}

void Pickup::Forget(const RequestKey& key) {
  const auto client = clients_.find(key.client);
  if (client != clients_.end()) Erase(client, key.request_id);
}

void Pickup::Put(const RequestKey& key, wire::Collected result, std::vector<Answer>& answers) {
  Forget(key);
  Client& client = clients_[key.client];
  const uint64_t place = ++places_;
  client.entries[key.request_id] = {place, std::move(result)};
  client.finished.emplace(place, key.request_id);
  kept_.emplace(place, key);
  for (auto waiting = client.waiting.begin(); waiting != client.waiting.end(); ++waiting) {
    wire::CollectReply reply = Take(client, waiting->request);
    if (reply.results.empty()) continue;
    answers.push_back({std::move(waiting->route), std::move(reply)});
    client.waiting.erase(waiting);
    break;
  }
  while (kept_.size() > max_kept_) Forget(RequestKey(kept_.begin()->second));
}

std::optional<wire::CollectReply> Pickup::Collect(const Route& route, const std::string& client,
                                                  const wire::CollectRequest& request,
                                                  const std::vector<wire::Collected>& strangers) {
  for (const std::string& id : request.ack) {
    const RequestKey key{client, id};
    if (Find(key) != State::kPending) Forget(key);
  }
  const auto found = clients_.find(client);
  wire::CollectReply reply = found != clients_.end() ? Take(found->second, request) : wire::CollectReply();
  reply.results.insert(reply.results.end(), strangers.begin(), strangers.end());
  if (!reply.results.empty() || request.wait.count() == 0) return reply;
  const auto until = Clock::now() + request.wait;
  next_deadline_ = std::min(next_deadline_, until);
  clients_[client].waiting.push_back({route, request, until});
  return std::nullopt;
}

wire::CollectReply Pickup::Take(const Client& client, const wire::CollectRequest& request) const {
  wire::CollectReply reply;
  const auto most = static_cast<size_t>(request.max);
  if (request.ids.empty()) {
    for (auto next = client.finished.begin(); next != client.finished.end() && reply.results.size() < most; ++next) {
      reply.results.push_back(client.entries.at(next->second).result);
    }
    reply.pending = static_cast<int64_t>(client.entries.size() - client.finished.size());
    return reply;
  }
  std::map<uint64_t, const Entry*> finished;
  for (const std::string& id : request.ids) {
    const auto entry = client.entries.find(id);
    if (entry == client.entries.end()) continue;
    if (entry->second.place == 0) ++reply.pending;
    if (entry->second.place != 0) finished.emplace(entry->second.place, &entry->second);
  }
  for (auto next = finished.begin(); next != finished.end() && reply.results.size() < most; ++next) {
    reply.results.push_back(next->second->result);
  }
  return reply;
}

void Pickup::Expire(Clock::time_point now, std::vector<Answer>& answers) {
  if (now < next_deadline_) return;
  next_deadline_ = Clock::time_point::max();
  for (auto client = clients_.begin(); client != clients_.end();) {
    client->second.waiting.remove_if([&](Waiting& waiting) {
      const bool over = waiting.until <= now;
      if (over) answers.push_back({std::move(waiting.route), Take(client->second, waiting.request)});
      if (!over) next_deadline_ = std::min(next_deadline_, waiting.until);
      return over;
    });
    const bool empty = client->second.entries.empty() && client->second.waiting.empty();
    client = empty ? clients_.erase(client) : std::next(client);
  }
}

void Pickup::Erase(std::map<std::string, Client>::iterator client, const std::string& id) {
  const auto entry = client->second.entries.find(id);
  if (entry == client->second.entries.end()) return;
  client->second.finished.erase(entry->second.place);
  kept_.erase(entry->second.place);
  client->second.entries.erase(entry);
}

}  // namespace touchstone

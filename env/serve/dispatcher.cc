#include "env/serve/dispatcher.h"

#include <algorithm>
#include <utility>

namespace touchstone {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kIdleCheck{5};

UnixMicros NowMicros() {
  return std::chrono::duration_cast<UnixMicros>(std::chrono::system_clock::now().time_since_epoch());
}

std::optional<EvalStatus> StatusOf(const StepReply& reply) { return reply.info.result.status; }
std::optional<EvalStatus> StatusOf(const ScoreReply& reply) { return reply.info.result.status; }
std::optional<EvalStatus> StatusOf(const ValidateReply& reply) { return reply.again.info.result.status; }
template <typename T>
std::optional<EvalStatus> StatusOf(const T&) {
  return std::nullopt;
}

}  // namespace

Dispatcher::Dispatcher(const ServerOptions& options, const ServerParts& parts, Router& router,
                       std::shared_ptr<Outbox> outbox, Metrics& metrics, std::function<wire::HealthReply()> health)
    : options_(options),
      parts_(parts),
      router_(router),
      outbox_(std::move(outbox)),
      metrics_(metrics),
      health_(std::move(health)),
      pickup_(options.max_kept_results),
      next_idle_check_(Clock::now() + kIdleCheck) {}

// --- replies --------------------------------------------------------------------------------------------------------

template <typename T>
void Dispatcher::Reply(const Route& route, const T& reply) {
  if (router_.Send(route, true, wire::EncodeReply(reply)) != Router::Sent::kSent) metrics_.CountUndelivered();
}

void Dispatcher::Fail(const Route& route, const wire::CallError& error) {
  metrics_.CountError(error.code);
  if (router_.Send(route, false, wire::EncodeReply(error)) != Router::Sent::kSent) metrics_.CountUndelivered();
}

void Dispatcher::Fail(const Route& route, const Error& error) {
  Fail(route, wire::ToCallError(error, options_.retry_after));
}

void Dispatcher::SendAnswers(const std::vector<Pickup::Answer>& answers) {
  for (const Pickup::Answer& answer : answers) Reply(answer.route, answer.reply);
}

// --- requests -------------------------------------------------------------------------------------------------------

void Dispatcher::Handle(const Incoming& incoming) {
  if (!incoming.well_formed) {
    metrics_.CountRequest("");
    return Fail(incoming.route,
                Error(ErrorCode::kInvalidArgument, "frames: a request is three of them: request id, method, payload"));
  }
  metrics_.CountRequest(incoming.method);
  auto decoded = wire::DecodeRequest(incoming.route.request_id, incoming.method, incoming.payload, options_.limits);
  if (const auto* error = std::get_if<wire::CallError>(&decoded)) {
    Route route = incoming.route;
    if (!wire::IsId(route.request_id)) route.request_id.clear();
    return Fail(route, *error);
  }
  auto& call = std::get<wire::Call>(decoded);
  // Whoever has proved who he is has names of his own: nobody else can ask for his results.
  if (!incoming.user.empty()) SetKey(call, {incoming.user + "/" + call.key.client, call.key.request_id});
  std::visit([&](auto& request) { On(incoming.route, call, request); }, call.request);
}

std::optional<uint64_t> Dispatcher::Admit(const Route& route, const RequestKey& key, std::string_view call,
                                          bool submitted) {
  if (stopping_) {
    Fail(route, Error(ErrorCode::kUnavailable, "the server is shutting down"));
    return std::nullopt;
  }
  if (in_flight_.size() >= options_.max_in_flight) {
    Fail(route, Error(ErrorCode::kExhausted,
                      "the queue is full: " + std::to_string(options_.max_in_flight) + " requests are in flight"));
    return std::nullopt;
  }
  in_flight_.emplace(++tickets_, InFlight{key, route, call, submitted, false});
  return tickets_;
}

template <typename T>
Dispatcher::Outcome Dispatcher::OutcomeOf(const Result<T>& result, std::chrono::milliseconds retry_after) {
  if (result.ok()) return {true, wire::EncodeReply(*result), ErrorCode::kInternal, StatusOf(*result)};
  return {false, wire::EncodeReply(wire::ToCallError(result.error(), retry_after)), result.error().code(), {}};
}

template <typename T>
Environment::Done<T> Dispatcher::Completion(uint64_t ticket) {
  return [this, ticket, outbox = outbox_, retry_after = options_.retry_after](const Result<T>& result) {
    // Encoded here, on the thread that has the result: the loop only sends.
    outbox->Post(
        [this, ticket, outcome = OutcomeOf(result, retry_after)]() mutable { Finish(ticket, std::move(outcome)); });
  };
}

void Dispatcher::On(const Route& route, wire::Call&, wire::DescribeRequest&) {
  wire::DescribeReply reply = parts_.facts;
  reply.tasks = parts_.environment->tasks();
  reply.methods = parts_.environment->methods();
  reply.limits["max_message_bytes"] = static_cast<int64_t>(options_.limits.max_message_bytes);
  reply.limits["max_source_bytes"] = static_cast<int64_t>(options_.limits.max_source_bytes);
  reply.limits["max_in_flight"] = static_cast<int64_t>(options_.max_in_flight);
  Reply(route, reply);
}

void Dispatcher::On(const Route& route, wire::Call& call, ResetRequest& request) {
  if (const auto ticket = Admit(route, call.key, "reset", false)) {
    parts_.environment->Reset(std::move(request), Completion<ResetReply>(*ticket));
  }
}

void Dispatcher::On(const Route& route, wire::Call& call, StepRequest& request) {
  if (const auto ticket = Admit(route, call.key, "step", false)) {
    parts_.environment->Step(std::move(request), Completion<StepReply>(*ticket));
  }
}

void Dispatcher::On(const Route& route, wire::Call& call, ScoreRequest& request) {
  if (const auto ticket = Admit(route, call.key, "score", false)) {
    parts_.environment->Score(std::move(request), Completion<ScoreReply>(*ticket));
  }
}

void Dispatcher::On(const Route& route, wire::Call& call, ValidateRequest& request) {
  if (const auto ticket = Admit(route, call.key, "validate", false)) {
    parts_.environment->Validate(std::move(request), Completion<ValidateReply>(*ticket));
  }
}

void Dispatcher::On(const Route& route, wire::Call&, wire::CloseRequest& request) {
  auto done = [this, route, outbox = outbox_](const Result<bool>& closed) {
    outbox->Post(
        [this, route, closed] { closed.ok() ? Reply(route, wire::CloseReply{*closed}) : Fail(route, closed.error()); });
  };
  parts_.environment->Close(request.session, std::move(done));
}

void Dispatcher::On(const Route& route, wire::Call& call, wire::CancelRequest& request) {
  const RequestKey key{call.key.client, request.id};
  bool cancelled = parts_.environment->Cancel(key);
  for (auto& [ticket, job] : in_flight_) {
    if (cancelled) break;
    if (!job.submitted || job.key != key) continue;  // not yet with the environment
    job.cancelled = true;
    cancelled = true;
  }
  Reply(route, wire::CancelReply{cancelled});
}

void Dispatcher::On(const Route& route, wire::Call&, SelectionRequest& request) {
  disk_.Post([this, route, request] {
    Result<wire::SampleReply> sampled = [&]() -> Result<wire::SampleReply> {
      TOUCHSTONE_ASSIGN(const Selection selection, parts_.environment->Sample(request));
      TOUCHSTONE_ASSIGN(const auto exemplars, parts_.environment->Exemplars(selection));
      wire::SampleReply reply;
      reply.as_of = selection.as_of;
      for (size_t i = 0; i < std::min(exemplars.size(), selection.items.size()); ++i) {
        const Selected& item = selection.items[i];
        reply.items.push_back({item.id, item.sequence, exemplars[i].source, item.score, item.probability});
      }
      return reply;
    }();
    outbox_->Post([this, route, sampled] { sampled.ok() ? Reply(route, *sampled) : Fail(route, sampled.error()); });
  });
}

void Dispatcher::On(const Route& route, wire::Call&, wire::HealthRequest&) { Reply(route, health_()); }

void Dispatcher::On(const Route& route, wire::Call&, wire::MetricsRequest&) {
  Reply(route, wire::MetricsReply{metrics_.Text()});
}

// --- submit and collect ---------------------------------------------------------------------------------------------

void Dispatcher::On(const Route& route, wire::Call& call, wire::SubmitRequest& request) {
  const Pickup::State state = pickup_.Find(call.key);
  if (state == Pickup::State::kPending || state == Pickup::State::kFinished) {
    return Reply(route, wire::SubmitReply{true});
  }
  const auto ticket = Admit(route, call.key, request.call.index() == 0 ? "step" : "score", true);
  if (!ticket) return;
  pickup_.Expect(call.key);
  if (parts_.store == nullptr) return Accepted(*ticket, uint64_t{0}, request);
  const wire::Call again{call.key, request};
  PendingRecord pending{call.key, NowMicros(), wire::EncodeRequest(again)};
  parts_.store->Accept(std::move(pending), [this, ticket, outbox = outbox_, request](const Result<uint64_t>& accepted) {
    outbox->Post([this, ticket, accepted, request] { Accepted(*ticket, accepted, request); });
  });
}

void Dispatcher::Accepted(uint64_t ticket, const Result<uint64_t>& accepted, const wire::SubmitRequest& request) {
  const auto job = in_flight_.find(ticket);
  if (job == in_flight_.end()) return;
  // Known already: pending since before a restart, or finished; the environment has the answer then.
  const bool known = !accepted.ok() && accepted.error().code() == ErrorCode::kInvalidArgument;
  if (!accepted.ok() && !known) {
    pickup_.Forget(job->second.key);
    Fail(job->second.route, accepted.error());
    in_flight_.erase(job);
    return;
  }
  Reply(job->second.route, wire::SubmitReply{true});
  StartSubmitted(ticket, request);
}

void Dispatcher::StartSubmitted(uint64_t ticket, wire::SubmitRequest request) {
  if (auto* step = std::get_if<StepRequest>(&request.call)) {
    parts_.environment->Step(std::move(*step), Completion<StepReply>(ticket));
  } else {
    parts_.environment->Score(std::move(std::get<ScoreRequest>(request.call)), Completion<ScoreReply>(ticket));
  }
  const InFlight& job = in_flight_.at(ticket);
  if (job.cancelled) parts_.environment->Cancel(job.key);
}

void Dispatcher::Resume(const std::vector<PendingRecord>& pending) {
  for (const PendingRecord& record : pending) {
    auto decoded = wire::DecodeRequest(record.request.request_id, "submit", record.payload, options_.limits);
    auto* call = std::get_if<wire::Call>(&decoded);
    if (call == nullptr) {  // written by a version that spoke otherwise
      parts_.store->Forget(record.request, [](const Result<uint64_t>&) {});
      continue;
    }
    SetKey(*call, record.request);
    pickup_.Expect(call->key);
    auto& request = std::get<wire::SubmitRequest>(call->request);
    const char* name = request.call.index() == 0 ? "step" : "score";
    in_flight_.emplace(++tickets_, InFlight{call->key, Route(), name, true, false});
    StartSubmitted(tickets_, std::move(request));
  }
}

void Dispatcher::On(const Route& route, wire::Call& call, wire::CollectRequest& request) {
  std::vector<std::string> unknown;
  for (const std::string& id : request.ids) {
    if (pickup_.Find({call.key.client, id}) == Pickup::State::kUnknown) unknown.push_back(id);
  }
  if (unknown.empty()) return AnswerCollect(route, call.key.client, request, {});
  disk_.Post([this, route, client = call.key.client, request, unknown] {
    outbox_->Post([this, route, client, request, found = FindStored(client, unknown)] {
      AnswerCollect(route, client, request, found);
    });
  });
}

std::vector<wire::Collected> Dispatcher::FindStored(const std::string& client, const std::vector<std::string>& ids) {
  std::vector<wire::Collected> found;
  for (const std::string& id : ids) {
    const RequestKey key{client, id};
    auto step = parts_.environment->FindStep(key);
    if (step.ok() && step->has_value()) {
      found.push_back({id, true, "step", wire::EncodeReply(**step)});
      continue;
    }
    auto score = parts_.environment->FindScore(key);
    if (score.ok() && score->has_value()) {
      found.push_back({id, true, "score", wire::EncodeReply(**score)});
      continue;
    }
    const Error why = !step.ok() ? step.error()
                      : !score.ok()
                          ? score.error()
                          : Error(ErrorCode::kNotFound, "id: no request '" + id + "' of this client is known");
    found.push_back({id, false, "", wire::EncodeReply(wire::ToCallError(why, options_.retry_after))});
  }
  return found;
}

void Dispatcher::AnswerCollect(const Route& route, const std::string& client, const wire::CollectRequest& request,
                               std::vector<wire::Collected> found) {
  // What was asked for in the meantime is no stranger any more.
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const wire::Collected& one) {
                               return pickup_.Find({client, one.id}) != Pickup::State::kUnknown;
                             }),
              found.end());
  if (auto reply = pickup_.Collect(route, client, request, found)) Reply(route, *reply);
}

// --- ends -----------------------------------------------------------------------------------------------------------

void Dispatcher::Finish(uint64_t ticket, Outcome outcome) {
  const auto job = in_flight_.find(ticket);
  if (job == in_flight_.end()) return;  // was returned when the server stopped
  const InFlight done = std::move(job->second);
  in_flight_.erase(job);
  if (outcome.status.has_value()) metrics_.CountOutcome(*outcome.status);
  if (!outcome.ok) metrics_.CountError(wire::ToCallError(Error(outcome.code, ""), options_.retry_after).code);
  if (done.submitted) return FinishSubmitted(done, std::move(outcome));
  if (router_.Send(done.route, outcome.ok, outcome.payload) == Router::Sent::kSent) return;
  metrics_.CountUndelivered();
  const bool collectable = outcome.ok && (done.call == "step" || done.call == "score");
  if (!collectable || pickup_.Find(done.key) != Pickup::State::kUnknown) return;
  std::vector<Pickup::Answer> answers;
  pickup_.Put(done.key, {done.key.request_id, true, std::string(done.call), std::move(outcome.payload)}, answers);
  SendAnswers(answers);
}

void Dispatcher::FinishSubmitted(const InFlight& done, Outcome outcome) {
  // The next server takes it up.
  if (stopping_ && !outcome.ok && parts_.store != nullptr && outcome.code == ErrorCode::kUnavailable) {
    return pickup_.Forget(done.key);
  }
  if (!outcome.ok && parts_.store != nullptr) parts_.store->Forget(done.key, [](const Result<uint64_t>&) {});
  std::vector<Pickup::Answer> answers;
  pickup_.Put(done.key, {done.key.request_id, outcome.ok, std::string(done.call), std::move(outcome.payload)}, answers);
  SendAnswers(answers);
}

void Dispatcher::ReturnInFlight() {
  for (const auto& [ticket, job] : in_flight_) {
    if (!job.submitted) Fail(job.route, Error(ErrorCode::kUnavailable, "the server is shutting down"));
  }
  in_flight_.clear();
}

void Dispatcher::Tick(Clock::time_point now) {
  std::vector<Pickup::Answer> answers;
  pickup_.Expire(now, answers);
  SendAnswers(answers);
  if (now < next_idle_check_) return;
  next_idle_check_ = now + kIdleCheck;
  parts_.environment->CloseIdle(now);
}

Clock::time_point Dispatcher::next_tick() const { return std::min(pickup_.next_deadline(), next_idle_check_); }

}  // namespace touchstone

#ifndef TOUCHSTONE_ENV_SERVE_DISPATCHER_H_
#define TOUCHSTONE_ENV_SERVE_DISPATCHER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/work_thread.h"
#include "env/env.h"
#include "env/serve/metrics.h"
#include "env/serve/outbox.h"
#include "env/serve/pickup.h"
#include "env/serve/router.h"
#include "env/serve/server.h"

namespace touchstone {

// What is done about each message: decode, ask the environment, reply. Belongs to the thread of the socket; what other
// threads have for it comes through the outbox.
class Dispatcher {
 public:
  Dispatcher(const ServerOptions& options, const ServerParts& parts, Router& router, std::shared_ptr<Outbox> outbox,
             Metrics& metrics, std::function<wire::HealthReply()> health);

  void Handle(const Incoming& incoming);
  // Takes up what was accepted by an earlier server.
  void Resume(const std::vector<PendingRecord>& pending);
  // What is due with time: collects that waited long enough, idle sessions.
  void Tick(std::chrono::steady_clock::time_point now);
  // Until then nothing is due.
  std::chrono::steady_clock::time_point next_tick() const;

  void StopTaking() { stopping_ = true; }
  // Answers everything in flight with `unavailable`; results that come later are dropped.
  void ReturnInFlight();
  size_t in_flight() const { return in_flight_.size(); }
  size_t kept_results() const { return pickup_.kept(); }

 private:
  // One request that the environment works on, or that the store is about to accept.
  struct InFlight {
    RequestKey key;
    Route route;
    std::string_view call;
    bool submitted = false;  // its result is for collect
    bool cancelled = false;
  };
  // A reply or an error, encoded.
  struct Outcome {
    bool ok = false;
    std::string payload;
    ErrorCode code = ErrorCode::kInternal;  // where not ok
    std::optional<EvalStatus> status;
  };

  void On(const Route& route, wire::Call& call, wire::DescribeRequest&);
  void On(const Route& route, wire::Call& call, ResetRequest& request);
  void On(const Route& route, wire::Call& call, StepRequest& request);
  void On(const Route& route, wire::Call& call, ScoreRequest& request);
  void On(const Route& route, wire::Call& call, ValidateRequest& request);
  void On(const Route& route, wire::Call& call, wire::SubmitRequest& request);
  void On(const Route& route, wire::Call& call, wire::CollectRequest& request);
  void On(const Route& route, wire::Call& call, wire::CancelRequest& request);
  void On(const Route& route, wire::Call& call, SelectionRequest& request);
  void On(const Route& route, wire::Call& call, wire::CloseRequest& request);
  void On(const Route& route, wire::Call& call, wire::HealthRequest&);
  void On(const Route& route, wire::Call& call, wire::MetricsRequest&);

  // None: refused, and said so.
  std::optional<uint64_t> Admit(const Route& route, const RequestKey& key, std::string_view call, bool submitted);
  // What the environment calls when it is done: on any thread.
  template <typename Reply>
  Environment::Done<Reply> Completion(uint64_t ticket);
  template <typename Reply>
  static Outcome OutcomeOf(const Result<Reply>& result, std::chrono::milliseconds retry_after);
  void Finish(uint64_t ticket, Outcome outcome);
  void FinishSubmitted(const InFlight& done, Outcome outcome);
  void StartSubmitted(uint64_t ticket, wire::SubmitRequest request);
  void Accepted(uint64_t ticket, const Result<uint64_t>& accepted, const wire::SubmitRequest& request);
  // Looks for the results of ids that no client of this process asked for. On the disk thread.
  std::vector<wire::Collected> FindStored(const std::string& client, const std::vector<std::string>& ids);
  void AnswerCollect(const Route& route, const std::string& client, const wire::CollectRequest& request,
                     std::vector<wire::Collected> found);

  template <typename T>
  void Reply(const Route& route, const T& reply);
  void SendAnswers(const std::vector<Pickup::Answer>& answers);
  void Fail(const Route& route, const wire::CallError& error);
  void Fail(const Route& route, const Error& error);

  const ServerOptions options_;
  const ServerParts parts_;
  Router& router_;
  const std::shared_ptr<Outbox> outbox_;
  Metrics& metrics_;
  const std::function<wire::HealthReply()> health_;
  Pickup pickup_;
  std::unordered_map<uint64_t, InFlight> in_flight_;
  uint64_t tickets_ = 0;
  bool stopping_ = false;
  std::chrono::steady_clock::time_point next_idle_check_;
  WorkThread disk_;  // last: its work ends before the rest goes
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_DISPATCHER_H_

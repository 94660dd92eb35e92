#include "env/serve/metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "env/serve/calls.h"

namespace touchstone {
namespace {

using prometheus::Histogram;

// 1 ms … 100 s.
const Histogram::BucketBoundaries kSeconds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100};

// What a step of budget_ms belongs to. `judge` is what is not timed: baseline, load, correctness, hidden.
struct Part {
  const char* step;
  const char* phase;
};
constexpr Part kParts[] = {{"compile", "compile"}, {"baseline", "judge"},    {"baseline_alone", "judge"},
                           {"load", "judge"},      {"correctness", "judge"}, {"hidden", "judge"},
                           {"measure", "measure"}};

template <typename Builder>
auto& Family(prometheus::Registry& registry, Builder builder, const char* name, const char* help) {
  return builder.Name(name).Help(help).Register(registry);
}

}  // namespace

bool IsLoopback(std::string_view address) {
  for (const std::string_view scheme : {"ipc://", "inproc://"}) {
    if (address.substr(0, scheme.size()) == scheme) return true;
  }
  if (address.substr(0, 6) == "tcp://") address.remove_prefix(6);
  return address.substr(0, 4) == "127." || address.substr(0, 10) == "localhost:" || address.substr(0, 6) == "[::1]:";
}

class Metrics::Registry final : public prometheus::Collectable {
 public:
  explicit Registry(std::function<ServerGauges()> gauges) : gauges_(std::move(gauges)) {
    for (const std::string_view method : wire::kMethods) {
      requests.emplace(method, &requests_family_.Add({{"method", std::string(method)}}));
    }
    for (size_t i = 0; i < outcomes.size(); ++i) {
      const auto status = static_cast<EvalStatus>(i);
      outcomes[i] = &outcomes_family_.Add({{"status", std::string(ToString(status))}});
    }
    for (const char* phase : {"compile", "judge", "measure"}) {
      phases.emplace(phase, &phases_family_.Add({{"phase", phase}}, kSeconds));
    }
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    const ServerGauges now = gauges_();
    waiting_.Set(static_cast<double>(now.scheduler.waiting));
    running_.Set(static_cast<double>(now.scheduler.running));
    in_flight_.Set(static_cast<double>(now.in_flight));
    sessions_.Set(static_cast<double>(now.sessions));
    kept_.Set(static_cast<double>(now.kept_results));
    for (const SlotStatus& slot : now.scheduler.slots) {
      const prometheus::Labels labels = {{"slot", slot.spec.name}};
      busy_family_.Add(labels).Set(slot.busy.count());
      up_family_.Add(labels).Set(slot.state == SlotState::kIdle || slot.state == SlotState::kBusy ? 1 : 0);
    }
    return registry_.Collect();
  }

 private:
  std::function<ServerGauges()> gauges_;
  mutable prometheus::Registry registry_;  // first: the families below live in it

  prometheus::Gauge& Gauge(const char* name, const char* help) {
    return Family(registry_, prometheus::BuildGauge(), name, help).Add({});
  }

  prometheus::Family<prometheus::Counter>& requests_family_ =
      Family(registry_, prometheus::BuildCounter(), "touchstone_requests_total", "Requests by method");
  prometheus::Family<prometheus::Counter>& outcomes_family_ =
      Family(registry_, prometheus::BuildCounter(), "touchstone_outcomes_total",
             "Replies of step, score and validate by status");
  prometheus::Family<Histogram>& phases_family_ =
      Family(registry_, prometheus::BuildHistogram(), "touchstone_evaluation_seconds", "Evaluations by phase");
  prometheus::Family<prometheus::Gauge>& busy_family_ = Family(
      registry_, prometheus::BuildGauge(), "touchstone_slot_busy_seconds_total", "Time in which the slot evaluated");
  prometheus::Family<prometheus::Gauge>& up_family_ =
      Family(registry_, prometheus::BuildGauge(), "touchstone_slot_up", "1: the slot takes work");
  prometheus::Gauge& waiting_ = Gauge("touchstone_waiting_evaluations", "Evaluations that wait for a slot");
  prometheus::Gauge& running_ = Gauge("touchstone_running_evaluations", "Evaluations that run");
  prometheus::Gauge& in_flight_ = Gauge("touchstone_requests_in_flight", "Requests that are not answered");
  prometheus::Gauge& sessions_ = Gauge("touchstone_open_sessions", "Sessions that are open");
  prometheus::Gauge& kept_ = Gauge("touchstone_kept_results", "Results that wait to be collected");

 public:
  prometheus::Family<prometheus::Counter>& errors_family =
      Family(registry_, prometheus::BuildCounter(), "touchstone_errors_total", "Error replies by code");
  prometheus::Family<prometheus::Counter>& faults_family = Family(
      registry_, prometheus::BuildCounter(), "touchstone_environment_faults_total", "Evaluations that broke a slot");
  prometheus::Counter& bad_connections = Family(registry_, prometheus::BuildCounter(),
                                                "touchstone_bad_connections_total", "Connections that spoke no ZeroMQ")
                                             .Add({});
  prometheus::Counter& undelivered = Family(registry_, prometheus::BuildCounter(),
                                            "touchstone_undelivered_replies_total", "Replies whose client was gone")
                                         .Add({});
  Histogram& queue_wait =
      Family(registry_, prometheus::BuildHistogram(), "touchstone_queue_wait_seconds", "Wait for a slot")
          .Add({}, kSeconds);
  std::map<std::string, prometheus::Counter*, std::less<>> requests;
  std::array<prometheus::Counter*, static_cast<size_t>(EvalStatus::kDeadline) + 1> outcomes{};
  std::map<std::string, Histogram*, std::less<>> phases;
};

Metrics::Metrics(std::function<ServerGauges()> gauges) : registry_(std::make_shared<Registry>(std::move(gauges))) {}
Metrics::~Metrics() = default;

Status Metrics::Expose(const std::string& address) {
  if (!IsLoopback(address)) {
    return Error(ErrorCode::kInvalidArgument, "metrics_address: '" + address + "' is not a loopback address");
  }
  try {
    auto exposer = std::make_shared<prometheus::Exposer>(address, 1);
    exposer->RegisterCollectable(registry_);
    exposer_ = std::move(exposer);
  } catch (const std::exception& error) {
    return Error(ErrorCode::kInvalidArgument, "metrics_address: '" + address + "': " + error.what());
  }
  return {};
}

std::string Metrics::Text() { return prometheus::TextSerializer().Serialize(registry_->Collect()); }

void Metrics::CountRequest(std::string_view method) {
  if (const auto counter = registry_->requests.find(method); counter != registry_->requests.end()) {
    counter->second->Increment();
  }
}

void Metrics::CountError(std::string_view code) {
  registry_->errors_family.Add({{"code", std::string(code)}}).Increment();
}

void Metrics::CountBadConnections(uint64_t count) { registry_->bad_connections.Increment(static_cast<double>(count)); }
void Metrics::CountUndelivered() { registry_->undelivered.Increment(); }
void Metrics::CountOutcome(EvalStatus status) { registry_->outcomes[static_cast<size_t>(status)]->Increment(); }

void Metrics::CountEnvironmentFault(const std::string& slot) {
  registry_->faults_family.Add({{"slot", slot}}).Increment();
}

void Metrics::Observe(const JobReport& report) {
  registry_->queue_wait.Observe(report.waited.count());
  std::map<std::string_view, double> seconds;
  for (const Part& part : kParts) {
    const auto spent = report.result->budget_ms.find(part.step);
    if (spent != report.result->budget_ms.end()) seconds[part.phase] += spent->second / 1e3;
  }
  for (const auto& [phase, time] : seconds) registry_->phases.find(phase)->second->Observe(time);
}

}  // namespace touchstone

#ifndef TOUCHSTONE_ENV_SERVE_METRICS_H_
#define TOUCHSTONE_ENV_SERVE_METRICS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/serve/scheduler.h"
#include "reward/result.h"

namespace touchstone {

// What is read at the moment of asking.
struct ServerGauges {
  SchedulerStatus scheduler;
  size_t in_flight = 0;
  size_t sessions = 0;
  size_t kept_results = 0;
};

// The server's numbers for Prometheus; docs/operations.md explains each. Thread-safe.
class Metrics {
 public:
  explicit Metrics(std::function<ServerGauges()> gauges);
  ~Metrics();

  // Also answers HTTP at `address` ("127.0.0.1:9464"). Without authentication: loopback addresses only
  // (kInvalidArgument).
  Status Expose(const std::string& address);
  std::string Text();

  void CountRequest(std::string_view method);
  void CountError(std::string_view code);
  void CountBadConnections(uint64_t count);
  void CountUndelivered();
  void CountOutcome(EvalStatus status);
  void CountEnvironmentFault(const std::string& slot);
  void Observe(const JobReport& report);

 private:
  class Registry;
  std::shared_ptr<Registry> registry_;
  std::shared_ptr<void> exposer_;
};

// Whether "host:port" or a ZeroMQ endpoint can be reached from this machine only.
bool IsLoopback(std::string_view address);

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_METRICS_H_

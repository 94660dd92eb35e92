// Environment over ZeroMQ (docs/wire.md). Threads: one owns the ROUTER socket and never waits for an evaluation or a
// disk; one reads the store for it; one answers on the health socket; with CURVE one decides who may connect.
#ifndef TOUCHSTONE_ENV_SERVE_SERVER_H_
#define TOUCHSTONE_ENV_SERVE_SERVER_H_

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/env.h"
#include "env/serve/calls.h"
#include "env/serve/scheduler.h"
#include "env/serve/wire.h"
#include "rollout/store.h"

namespace touchstone {

struct ServerOptions {
  // Where clients connect; port "*" chooses one. Another interface than loopback needs the two files of CURVE keys.
  std::string endpoint = "tcp://127.0.0.1:5555";
  std::string health_endpoint = "tcp://127.0.0.1:5556";  // empty: none
  std::string metrics_address = "127.0.0.1:9464";        // Prometheus over HTTP, loopback only; empty: none
  std::string secret_key_file;                           // of `touchstone keys new`; empty: no CURVE
  std::string allowed_clients_file;                      // a line for each: public key, name

  wire::Limits limits;
  size_t max_in_flight = 4096;  // requests that wait or run, of all clients; beyond: busy
  std::chrono::milliseconds retry_after{250};
  size_t max_kept_results = 100'000;  // results that nobody collected; beyond, the oldest go
};

// What the server is a shell of. All outlive it.
struct ServerParts {
  Environment* environment = nullptr;
  RolloutStore* store = nullptr;   // null: nothing is kept
  Scheduler* scheduler = nullptr;  // for health and metrics; null in tests
  std::string store_name;          // for health
  wire::DescribeReply facts;       // but tasks and methods, which the environment has
};

class Metrics;

class Server {
 public:
  // Binds, takes up what the store says was accepted and not finished, and serves. kInvalidArgument names the option.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, ServerParts parts);
  // Ends at once: what is in flight is not answered. Call Drain() first.
  virtual ~Server() = default;

  // Takes nothing more, refuses what waits, and waits for what runs; what still runs after `bound` is answered with
  // `unavailable`. What was accepted by `submit` stays in the store and is taken up by the next server. True: nothing
  // runs any more.
  virtual bool Drain(std::chrono::milliseconds bound) = 0;

  virtual std::string endpoint() const = 0;  // with the port that was chosen
  virtual std::string health_endpoint() const = 0;
  virtual Metrics& metrics() = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_SERVER_H_

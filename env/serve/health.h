#ifndef TOUCHSTONE_ENV_SERVE_HEALTH_H_
#define TOUCHSTONE_ENV_SERVE_HEALTH_H_

#include <zmq.hpp>

#include <functional>
#include <thread>

#include "env/serve/router.h"
#include "env/serve/wire.h"

namespace touchstone {

// Answers `health` on a socket and a thread of its own, so that it answers while all else is stuck. Ends when the
// context of the socket is shut down.
class HealthServer {
 public:
  // `health` is called on the thread and must not wait for anything.
  HealthServer(Router router, wire::Limits limits, std::function<wire::HealthReply()> health);
  ~HealthServer() { thread_.join(); }

 private:
  void Run();

  Router router_;
  const wire::Limits limits_;
  const std::function<wire::HealthReply()> health_;
  std::thread thread_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_HEALTH_H_

#include "env/serve/health.h"

#include <utility>

namespace touchstone {

HealthServer::HealthServer(Router router, wire::Limits limits, std::function<wire::HealthReply()> health)
    : router_(std::move(router)), limits_(limits), health_(std::move(health)), thread_([this] { Run(); }) {}

void HealthServer::Run() {
  while (true) {
    try {
      zmq::pollitem_t item{router_.socket().handle(), 0, ZMQ_POLLIN, 0};
      zmq::poll(&item, 1, std::chrono::milliseconds(-1));
    } catch (const zmq::error_t& error) {
      if (error.num() == EINTR) continue;
      break;
    }
    while (const auto incoming = router_.Receive()) {
      const auto decoded =
          wire::DecodeRequest(incoming->route.request_id, incoming->method, incoming->payload, limits_);
      const auto* error = std::get_if<wire::CallError>(&decoded);
      const bool asks_health =
          error == nullptr && std::holds_alternative<wire::HealthRequest>(std::get<wire::Call>(decoded).request);
      if (asks_health) {
        router_.Send(incoming->route, true, wire::EncodeReply(health_()));
        continue;
      }
      const wire::CallError other{"invalid_argument", "method: this socket answers health only", "method", {}, {}};
      router_.Send(incoming->route, false, wire::EncodeReply(error != nullptr ? *error : other));
    }
    router_.TakeBadConnections();
  }
}

}  // namespace touchstone

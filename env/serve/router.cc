#include "env/serve/router.h"

#include <zmq.h>

#include <cstring>
#include <utility>

namespace touchstone {
namespace {

// Replies that a connection has not read yet. One that reads so slowly gets no more: results are kept for it.
constexpr int kMaxUnreadReplies = 10'000;
constexpr int kMaxUnhandledRequests = 1'000;
constexpr int kHeartbeatMs = 10'000;
constexpr int kPeerTimeoutMs = 60'000;
constexpr char kMonitorAddress[] = "inproc://router-monitor";

std::string_view View(const zmq::message_t& frame) { return {static_cast<const char*>(frame.data()), frame.size()}; }

}  // namespace

Result<Router> Router::Bind(zmq::context_t& context, const std::string& endpoint, size_t max_frame_bytes,
                            const std::optional<CurveServerKeys>& curve) {
  try {
    zmq::socket_t socket(context, zmq::socket_type::router);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::router_mandatory, true);
    socket.set(zmq::sockopt::sndhwm, kMaxUnreadReplies);
    socket.set(zmq::sockopt::rcvhwm, kMaxUnhandledRequests);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<int64_t>(max_frame_bytes));
    socket.set(zmq::sockopt::heartbeat_ivl, kHeartbeatMs);
    socket.set(zmq::sockopt::heartbeat_timeout, kPeerTimeoutMs);
    socket.set(zmq::sockopt::backlog, 4096);
    if (curve.has_value()) {
      socket.set(zmq::sockopt::curve_server, true);
      socket.set(zmq::sockopt::curve_secretkey, curve->secret_key);
      socket.set(zmq::sockopt::zap_domain, "touchstone");
    }
    constexpr int kEvents =
        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    if (::zmq_socket_monitor(socket.handle(), kMonitorAddress, kEvents) != 0) throw zmq::error_t();
    zmq::socket_t monitor(context, zmq::socket_type::pair);
    monitor.set(zmq::sockopt::linger, 0);
    monitor.connect(kMonitorAddress);
    socket.bind(endpoint);
    std::string bound = socket.get(zmq::sockopt::last_endpoint);
    return Router(std::move(socket), std::move(monitor), std::move(bound));
  } catch (const zmq::error_t& error) {
    return Error(ErrorCode::kInvalidArgument, "endpoint: '" + endpoint + "' cannot be bound: " + error.what());
  }
}

bool Router::ReceiveFrame(zmq::message_t& frame) {
  try {
    return socket_.recv(frame, zmq::recv_flags::dontwait).has_value();
  } catch (const zmq::error_t&) {
    return false;  // a signal, or the context ends
  }
}

std::optional<Incoming> Router::Receive() {
  if (!ReceiveFrame(peer_)) return std::nullopt;
  Incoming incoming;
  incoming.route.peer = View(peer_);
  zmq::message_t* const frames[] = {&request_id_, &method_, &payload_};
  size_t count = 0;
  zmq::message_t other;
  for (bool more = peer_.more(); more; ++count) {
    zmq::message_t& frame = count < std::size(frames) ? *frames[count] : other;
    if (!ReceiveFrame(frame)) break;
    more = frame.more();
  }
  incoming.well_formed = count == std::size(frames);
  if (!incoming.well_formed) return incoming;
  incoming.route.request_id = View(request_id_);
  incoming.method = View(method_);
  incoming.payload = View(payload_);
  if (const char* user = ::zmq_msg_gets(payload_.handle(), "User-Id")) incoming.user = user;
  return incoming;
}

Router::Sent Router::Send(const Route& route, bool ok, std::string_view payload) {
  const std::string_view frames[] = {route.peer, route.request_id, ok ? "ok" : "error", payload};
  for (size_t i = 0; i < std::size(frames); ++i) {
    const bool last = i + 1 == std::size(frames);
    const int flags = ZMQ_DONTWAIT | (last ? 0 : ZMQ_SNDMORE);
    if (::zmq_send(socket_.handle(), frames[i].data(), frames[i].size(), flags) >= 0) continue;
    return ::zmq_errno() == EAGAIN ? Sent::kFull : Sent::kGone;
  }
  return Sent::kSent;
}

uint64_t Router::TakeBadConnections() {
  uint64_t count = 0;
  zmq::message_t event;
  zmq::message_t address;
  try {
    while (monitor_.recv(event, zmq::recv_flags::dontwait).has_value()) {
      (void)monitor_.recv(address, zmq::recv_flags::dontwait);
      ++count;
    }
  } catch (const zmq::error_t&) {
  }
  return count;
}

}  // namespace touchstone

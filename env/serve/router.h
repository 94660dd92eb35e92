#ifndef TOUCHSTONE_ENV_SERVE_ROUTER_H_
#define TOUCHSTONE_ENV_SERVE_ROUTER_H_

#include <zmq.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace touchstone {

// Where a reply goes.
struct Route {
  std::string peer;        // ZeroMQ's name of the connection
  std::string request_id;  // empty: what came was no request
};

// One message that came in. Views into the frames, which live until the next Receive.
struct Incoming {
  Route route;
  bool well_formed = false;  // three frames
  std::string_view method;
  std::string_view payload;
  std::string user;  // what the connection has proved to be (CURVE); empty without
};

struct CurveServerKeys {
  std::string secret_key;  // Z85
};

// The ROUTER socket. Belongs to one thread from its first use on.
class Router {
 public:
  // `max_frame_bytes`: a longer frame ends its connection. kInvalidArgument names the endpoint that cannot be bound.
  static Result<Router> Bind(zmq::context_t& context, const std::string& endpoint, size_t max_frame_bytes,
                             const std::optional<CurveServerKeys>& curve);

  // The next message, if one is there. Does not block.
  std::optional<Incoming> Receive();

  enum class Sent { kSent, kGone, kFull };  // the connection is gone; it does not read what it gets
  Sent Send(const Route& route, bool ok, std::string_view payload);

  // Connections that were ended because what they sent was no message, or that did not prove who they are. Counts what
  // happened since the last call.
  uint64_t TakeBadConnections();

  zmq::socket_t& socket() { return socket_; }
  zmq::socket_t& monitor() { return monitor_; }
  const std::string& endpoint() const { return endpoint_; }  // with the port that was chosen

 private:
  Router(zmq::socket_t socket, zmq::socket_t monitor, std::string endpoint)
      : socket_(std::move(socket)), monitor_(std::move(monitor)), endpoint_(std::move(endpoint)) {}
  bool ReceiveFrame(zmq::message_t& frame);

  zmq::socket_t socket_;
  zmq::socket_t monitor_;
  std::string endpoint_;
  zmq::message_t peer_, request_id_, method_, payload_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_ROUTER_H_

#include "env/client.h"

#include <zmq.h>
#include <zmq.hpp>

#include <algorithm>
#include <climits>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "env/serve/curve.h"
#include "env/serve/wire.h"

namespace touchstone {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kHeartbeatMs = 5'000;
constexpr int kServerTimeoutMs = 30'000;
constexpr int kReconnectMs = 50;
constexpr int kReconnectMaxMs = 1'000;
constexpr milliseconds kCollectTurn{60'000};  // longest wait that one request asks for
constexpr char kMonitorAddress[] = "inproc://client-monitor";

std::string FreshId() { return ToHex(NewSecretKey()).substr(0, 32); }

class ZmqClient final : public Client {
 public:
  explicit ZmqClient(ClientOptions options) : options_(std::move(options)) {
    if (options_.name.empty()) options_.name = FreshId();
  }

  Status Open() {
    if (!wire::IsId(options_.name)) {
      return Error(ErrorCode::kInvalidArgument, "name: is not 1 to 64 bytes of printable ASCII");
    }
    try {
      socket_.set(zmq::sockopt::linger, 0);
      socket_.set(zmq::sockopt::sndhwm, 0);
      socket_.set(zmq::sockopt::rcvhwm, 0);
      socket_.set(zmq::sockopt::heartbeat_ivl, kHeartbeatMs);
      socket_.set(zmq::sockopt::heartbeat_timeout, kServerTimeoutMs);
      socket_.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
      socket_.set(zmq::sockopt::reconnect_ivl_max, kReconnectMaxMs);
      if (!options_.server_key.empty()) {
        TOUCHSTONE_ASSIGN(const KeyPair keys, ReadKeyPair(options_.key_file));
        socket_.set(zmq::sockopt::curve_serverkey, options_.server_key);
        socket_.set(zmq::sockopt::curve_publickey, keys.public_key);
        socket_.set(zmq::sockopt::curve_secretkey, keys.secret_key);
      }
      if (::zmq_socket_monitor(socket_.handle(), kMonitorAddress, ZMQ_EVENT_DISCONNECTED) != 0) throw zmq::error_t();
      monitor_.set(zmq::sockopt::linger, 0);
      monitor_.connect(kMonitorAddress);
      socket_.connect(options_.endpoint);
    } catch (const zmq::error_t& error) {
      return Error(ErrorCode::kInvalidArgument, "endpoint: '" + options_.endpoint + "': " + error.what());
    }
    return {};
  }

  Result<ResetReply> Reset(ResetRequest request) override { return Ask<ResetReply>(std::move(request)); }
  Result<StepReply> Step(StepRequest request) override { return Ask<StepReply>(std::move(request)); }
  Result<ScoreReply> Score(ScoreRequest request) override { return Ask<ScoreReply>(std::move(request)); }
  Result<ValidateReply> Validate(ValidateRequest request) override { return Ask<ValidateReply>(std::move(request)); }

  Result<bool> Close(const std::string& session) override {
    TOUCHSTONE_ASSIGN(const auto reply, AskPlain<wire::CloseReply>(wire::CloseRequest{session}));
    return reply.closed;
  }

  Result<std::string> Submit(StepRequest request) override { return SubmitCall(std::move(request)); }
  Result<std::string> Submit(ScoreRequest request) override { return SubmitCall(std::move(request)); }

  Result<std::vector<Finished>> Collect(const std::vector<std::string>& ids, int max, milliseconds wait) override {
    const auto until = Clock::now() + wait;
    while (true) {
      const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
      const auto turn = std::clamp(left, milliseconds(0), kCollectTurn);
      TOUCHSTONE_ASSIGN(auto reply, AskPlain<wire::CollectReply>(wire::CollectRequest{ids, max, turn, handed_out_}));
      handed_out_.clear();
      std::vector<Finished> finished;
      for (const wire::Collected& result : reply.results) {
        TOUCHSTONE_ASSIGN(Finished one, Decode(result));
        handed_out_.push_back(result.id);
        finished.push_back(std::move(one));
      }
      if (!finished.empty() || Clock::now() >= until) return finished;
    }
  }

  Result<bool> Cancel(const std::string& id) override {
    TOUCHSTONE_ASSIGN(const auto reply, AskPlain<wire::CancelReply>(wire::CancelRequest{id}));
    return reply.cancelled;
  }

  Result<wire::DescribeReply> Describe() override { return AskPlain<wire::DescribeReply>(wire::DescribeRequest()); }
  Result<wire::SampleReply> Sample(SelectionRequest request) override {
    return AskPlain<wire::SampleReply>(std::move(request));
  }
  Result<wire::HealthReply> Health() override { return AskPlain<wire::HealthReply>(wire::HealthRequest()); }
  Result<std::string> Metrics() override {
    TOUCHSTONE_ASSIGN(auto reply, AskPlain<wire::MetricsReply>(wire::MetricsRequest()));
    return std::move(reply.text);
  }

  const std::string& name() const override { return options_.name; }
  const wire::CallError& last_error() const override { return last_error_; }

 private:
  template <typename Request>
  Result<std::string> SubmitCall(Request request) {
    const std::string id = request.key.request_id.empty() ? FreshId() : request.key.request_id;
    TOUCHSTONE_ASSIGN(const auto reply,
                      Exchange<wire::SubmitReply>({{options_.name, id}, wire::SubmitRequest{std::move(request)}}));
    if (!reply.accepted) return Error(ErrorCode::kInternal, "the server did not accept the request");
    return id;
  }

  template <typename Reply, typename Request>
  Result<Reply> Ask(Request request) {
    const std::string id = request.key.request_id.empty() ? FreshId() : request.key.request_id;
    return Exchange<Reply>({{options_.name, id}, std::move(request)});
  }

  template <typename Reply, typename Request>
  Result<Reply> AskPlain(Request request) {
    return Exchange<Reply>({{options_.name, FreshId()}, std::move(request)});
  }

  static Result<Finished> Decode(const wire::Collected& result) {
    if (!result.ok) {
      TOUCHSTONE_ASSIGN(const auto error, wire::DecodeReply<wire::CallError>(result.payload));
      return Finished{result.id, wire::ToError(error)};
    }
    if (result.call == "score") {
      TOUCHSTONE_ASSIGN(auto score, wire::DecodeReply<ScoreReply>(result.payload));
      return Finished{result.id, std::move(score)};
    }
    TOUCHSTONE_ASSIGN(auto step, wire::DecodeReply<StepReply>(result.payload));
    return Finished{result.id, std::move(step)};
  }

  // Asks until there is an answer: again when the connection was lost, later when the server is busy.
  template <typename Reply>
  Result<Reply> Exchange(const wire::Call& call) {
    const std::string payload = wire::EncodeRequest(call);
    const auto until = Clock::now() + options_.timeout;
    TOUCHSTONE_RETURN_IF_ERROR(Send(call, payload, until));
    while (true) {
      TOUCHSTONE_ASSIGN(const Event event, NextEvent(call.key.request_id, until));
      if (event == Event::kDisconnected) {  // what is sent now leaves when the connection is there again
        TOUCHSTONE_RETURN_IF_ERROR(Send(call, payload, until));
        continue;
      }
      const std::string_view bytes(static_cast<const char*>(payload_.data()), payload_.size());
      if (is_ok_) return wire::DecodeReply<Reply>(bytes);
      TOUCHSTONE_ASSIGN(last_error_, wire::DecodeReply<wire::CallError>(bytes));
      if (last_error_.code != "busy" || !options_.wait_when_busy) return wire::ToError(last_error_);
      const milliseconds pause(last_error_.retry_after_ms.value_or(100));
      if (Clock::now() + pause >= until) return wire::ToError(last_error_);
      std::this_thread::sleep_for(pause);
      TOUCHSTONE_RETURN_IF_ERROR(Send(call, payload, until));
    }
  }

  // Waits for a connection where there is none: one that the server refused is not even there to be queued on.
  Status Send(const wire::Call& call, const std::string& payload, Clock::time_point until) {
    try {
      const auto left = std::max(std::chrono::ceil<milliseconds>(until - Clock::now()), milliseconds(1));
      socket_.set(zmq::sockopt::sndtimeo, static_cast<int>(std::min<int64_t>(left.count(), INT_MAX)));
      if (!socket_.send(zmq::buffer(call.key.request_id), zmq::send_flags::sndmore).has_value()) {
        return Error(ErrorCode::kDeadline, "no connection in " + std::to_string(options_.timeout.count()) + " ms");
      }
      socket_.send(zmq::buffer(wire::MethodOf(call.request)), zmq::send_flags::sndmore);
      socket_.send(zmq::buffer(payload), zmq::send_flags::none);
      return {};
    } catch (const zmq::error_t& error) {
      return Error(ErrorCode::kUnavailable, std::string("sending: ") + error.what());
    }
  }

  enum class Event { kReply, kDisconnected };

  // A reply to this request is in is_ok_ and payload_; others are late ones and go.
  Result<Event> NextEvent(const std::string& request_id, Clock::time_point until) {
    while (true) {
      if (ReceiveReply(request_id)) return Event::kReply;
      zmq::message_t event;
      zmq::message_t address;
      try {
        if (monitor_.recv(event, zmq::recv_flags::dontwait).has_value()) {
          (void)monitor_.recv(address, zmq::recv_flags::none);
          return Event::kDisconnected;
        }
        const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
        if (left.count() <= 0) {
          return Error(ErrorCode::kDeadline, "no answer in " + std::to_string(options_.timeout.count()) + " ms");
        }
        zmq::pollitem_t items[] = {{socket_.handle(), 0, ZMQ_POLLIN, 0}, {monitor_.handle(), 0, ZMQ_POLLIN, 0}};
        zmq::poll(items, std::size(items), left);
      } catch (const zmq::error_t& error) {
        if (error.num() != EINTR) return Error(ErrorCode::kUnavailable, std::string("waiting: ") + error.what());
      }
    }
  }

  bool ReceiveReply(const std::string& request_id) {
    zmq::message_t id;
    zmq::message_t ok;
    while (socket_.recv(id, zmq::recv_flags::dontwait).has_value()) {
      bool more = id.more();
      if (more) more = socket_.recv(ok).has_value() && ok.more();
      if (more) more = socket_.recv(payload_).has_value() && payload_.more();
      is_ok_ = ok.to_string_view() == "ok";
      if (id.to_string_view() == request_id) return true;
    }
    return false;
  }

  ClientOptions options_;
  zmq::context_t context_{1};
  zmq::socket_t socket_{context_, zmq::socket_type::dealer};
  zmq::socket_t monitor_{context_, zmq::socket_type::pair};
  zmq::message_t payload_;
  bool is_ok_ = false;
  std::vector<std::string> handed_out_;
  wire::CallError last_error_;
};

}  // namespace

Result<std::unique_ptr<Client>> Client::Connect(ClientOptions options) {
  auto client = std::make_unique<ZmqClient>(std::move(options));
  TOUCHSTONE_RETURN_IF_ERROR(client->Open());
  return std::unique_ptr<Client>(std::move(client));
}

}  // namespace touchstone

#include "env/serve/server.h"

#include <zmq.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "env/serve/curve.h"
#include "env/serve/dispatcher.h"
#include "env/serve/health.h"
#include "env/serve/metrics.h"
#include "env/serve/outbox.h"
#include "env/serve/router.h"

namespace touchstone {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kMessagesPerTurn = 256;            // then results get their turn
constexpr milliseconds kLongestSleep{200};       // so that the loop is seen turning
constexpr std::chrono::seconds kSilentLimit{5};  // a loop that did not turn for so long is stuck
constexpr int kFlushMs = 500;                    // for replies that are on their way when the server ends
constexpr size_t kFrameRoom = 4;                 // a frame may be so many times too large and still get its error

// What the loop tells the other threads.
struct Board {
  std::atomic<Clock::rep> last_turn{Clock::now().time_since_epoch().count()};
  std::atomic<size_t> in_flight{0};
  std::atomic<size_t> sessions{0};
  std::atomic<size_t> kept_results{0};
};

class ZmqServer final : public Server {
 public:
  ZmqServer(ServerOptions options, ServerParts parts)
      : options_(std::move(options)), parts_(std::move(parts)), outbox_(std::make_shared<Outbox>()), metrics_([this] {
          return ServerGauges{parts_.scheduler != nullptr ? parts_.scheduler->status() : SchedulerStatus(),
                              board_.in_flight, board_.sessions, board_.kept_results};
        }) {}

  Status Open() {
    std::optional<CurveServerKeys> curve;
    if (!options_.secret_key_file.empty()) {
      TOUCHSTONE_ASSIGN(const KeyPair keys, ReadKeyPair(options_.secret_key_file));
      TOUCHSTONE_ASSIGN(auto allowed, ReadAllowedClients(options_.allowed_clients_file));
      curve = CurveServerKeys{keys.secret_key};
      gatekeeper_.emplace(context_, allowed);
      health_gatekeeper_.emplace(health_context_, std::move(allowed));
    }
    for (const auto& [name, endpoint] :
         {std::pair("endpoint", options_.endpoint), std::pair("health_endpoint", options_.health_endpoint)}) {
      if (endpoint.empty() || IsLoopback(endpoint) || curve.has_value()) continue;
      return Error(ErrorCode::kInvalidArgument,
                   std::string(name) + ": '" + endpoint +
                       "' can be reached from other machines: that needs secret_key_file and allowed_clients_file");
    }
    const size_t max_frame = options_.limits.max_message_bytes * kFrameRoom;
    TOUCHSTONE_ASSIGN(Router router, Router::Bind(context_, options_.endpoint, max_frame, curve));
    router_.emplace(std::move(router));
    if (!options_.health_endpoint.empty()) {
      TOUCHSTONE_ASSIGN(Router health, Router::Bind(health_context_, options_.health_endpoint, 4096, curve));
      health_endpoint_ = health.endpoint();
      health_.emplace(std::move(health), options_.limits, [this] { return Health(); });
    }
    if (!options_.metrics_address.empty()) TOUCHSTONE_RETURN_IF_ERROR(metrics_.Expose(options_.metrics_address));
    std::vector<PendingRecord> pending;
    if (parts_.store != nullptr) {
      TOUCHSTONE_ASSIGN(pending, parts_.store->Pending());
    }
    endpoint_ = router_->endpoint();
    thread_ = std::thread([this, pending = std::move(pending)] { Run(pending); });
    return {};
  }

  ~ZmqServer() override {
    outbox_->Post([this] { ending_ = true; });
    if (thread_.joinable()) thread_.join();
    router_.reset();
    context_.shutdown();  // ends the threads that wait on a socket
    health_context_.shutdown();
    health_.reset();
    gatekeeper_.reset();
    health_gatekeeper_.reset();
  }

  bool Drain(milliseconds bound) override {
    const auto until = Clock::now() + bound;
    outbox_->Post([this] {
      draining_ = true;
      dispatcher_->StopTaking();
      if (parts_.scheduler != nullptr) parts_.scheduler->Stop();
    });
    bool drained = true;
    {
      MutexLock lock(mutex_);
      while (!drained_ && drained) drained = changed_.WaitUntil(mutex_, until) || drained_;
      drained = drained_;
    }
    outbox_->Post([this] { dispatcher_->ReturnInFlight(); });
    return drained;
  }

  std::string endpoint() const override { return endpoint_; }
  std::string health_endpoint() const override { return health_endpoint_; }
  Metrics& metrics() override { return metrics_; }

 private:
  // Any thread; waits for nothing that could be stuck.
  wire::HealthReply Health() const {
    using Seconds = std::chrono::duration<double>;
    const auto now = Clock::now();
    const Clock::time_point last_turn{Clock::duration(board_.last_turn.load())};
    wire::HealthReply health;
    health.uptime_s = Seconds(now - started_).count();
    health.silent_s = Seconds(now - last_turn).count();
    health.sessions = static_cast<int64_t>(board_.sessions.load());
    health.store = parts_.store_name;
    health.ok = now - last_turn < kSilentLimit;
    if (parts_.scheduler == nullptr) return health;
    const SchedulerStatus status = parts_.scheduler->status();
    health.waiting = static_cast<int64_t>(status.waiting);
    health.running = static_cast<int64_t>(status.running);
    bool works = false;
    for (const SlotStatus& slot : status.slots) {
      std::string cpus;
      for (const int cpu : slot.spec.cpus) cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
      health.slots.push_back({slot.spec.name, std::string(ToString(slot.state)), slot.why, cpus, slot.spec.untimed});
      works = works || slot.state == SlotState::kIdle || slot.state == SlotState::kBusy;
    }
    health.ok = health.ok && works;
    return health;
  }

  void Run(const std::vector<PendingRecord>& pending) {
    dispatcher_.emplace(options_, parts_, *router_, outbox_, metrics_, [this] { return Health(); });
    dispatcher_->Resume(pending);
    while (!ending_) {
      Sleep();
      board_.last_turn = Clock::now().time_since_epoch().count();
      outbox_->Run();
      for (int i = 0; i < kMessagesPerTurn; ++i) {
        const auto incoming = router_->Receive();
        if (!incoming) break;
        dispatcher_->Handle(*incoming);
      }
      metrics_.CountBadConnections(router_->TakeBadConnections());
      dispatcher_->Tick(Clock::now());
      Show();
    }
    router_->socket().set(zmq::sockopt::linger, kFlushMs);
    dispatcher_.reset();
  }

  // Until a message, a result or something that is due.
  void Sleep() {
    const auto due = std::chrono::ceil<milliseconds>(dispatcher_->next_tick() - Clock::now());
    const auto longest = std::clamp(due, milliseconds(0), kLongestSleep);
    zmq::pollitem_t items[] = {{router_->socket().handle(), 0, ZMQ_POLLIN, 0},
                               {nullptr, outbox_->fd(), ZMQ_POLLIN, 0},
                               {router_->monitor().handle(), 0, ZMQ_POLLIN, 0}};
    try {
      zmq::poll(items, std::size(items), longest);
    } catch (const zmq::error_t&) {
      // A signal: the turn just comes early.
    }
  }

  void Show() {
    board_.in_flight = dispatcher_->in_flight();
    board_.kept_results = dispatcher_->kept_results();
    board_.sessions = parts_.environment->open_sessions();
    if (!draining_ || dispatcher_->in_flight() > 0) return;
    MutexLock lock(mutex_);
    drained_ = true;
    changed_.NotifyAll();
  }

  const ServerOptions options_;
  const ServerParts parts_;
  const Clock::time_point started_ = Clock::now();
  const std::shared_ptr<Outbox> outbox_;
  Board board_;
  Metrics metrics_;
  zmq::context_t context_{1};
  zmq::context_t health_context_{1};
  std::optional<Gatekeeper> gatekeeper_;
  std::optional<Gatekeeper> health_gatekeeper_;
  std::optional<HealthServer> health_;
  std::string endpoint_;
  std::string health_endpoint_;

  // The loop's own.
  std::optional<Router> router_;
  std::optional<Dispatcher> dispatcher_;
  bool ending_ = false;
  bool draining_ = false;

  Mutex mutex_;
  CondVar changed_;
  bool drained_ TOUCHSTONE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, ServerParts parts) {
  TOUCHSTONE_CHECK(parts.environment != nullptr, "a server needs an environment");
  auto server = std::make_unique<ZmqServer>(std::move(options), std::move(parts));
  TOUCHSTONE_RETURN_IF_ERROR(server->Open());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace touchstone

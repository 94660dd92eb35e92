// A server in the test's own process: the real environment over slots that run nothing.
#ifndef TOUCHSTONE_TESTS_ENV_SERVE_HARNESS_H_
#define TOUCHSTONE_TESTS_ENV_SERVE_HARNESS_H_

#include <stdlib.h>
#include <zmq.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/client.h"
#include "env/env.h"
#include "env/serve/metrics.h"
#include "env/serve/server.h"
#include "rollout/rollout.h"
#include "tests/env/serve/fakes.h"

namespace touchstone {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "touchstone-serve-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// What a test asks for and changes before Start().
struct Harness {
  ServerOptions options;
  std::vector<SlotSpec> slots = {{"s0", {0}}};
  // Where it is set, instead of `evaluate`.
  std::function<Result<std::unique_ptr<Evaluator>>(const SlotSpec&)> make_evaluator;
  FakeEvaluator::Body evaluate = [](const EvalRequest& request) { return SuccessFor(request); };
  std::string store_folder;  // empty: none
  size_t max_waiting = 4096;

  std::unique_ptr<RolloutStore> store;
  std::unique_ptr<RolloutSelector> selector;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<Environment> environment;
  std::unique_ptr<Server> server;

  Harness() {
    options.endpoint = options.health_endpoint = "tcp://127.0.0.1:*";
    options.metrics_address = "";
    options.retry_after = std::chrono::milliseconds(5);
  }
  ~Harness() { Stop(); }

  Status Start() {
    if (!store_folder.empty()) {
      StoreOptions where;
      where.folder = store_folder;
      TOUCHSTONE_ASSIGN(store, RolloutStore::Open(where));
      TOUCHSTONE_ASSIGN(selector, RolloutSelector::Create(*store));
    }
    SchedulerOptions plan;
    plan.slots = slots;
    plan.max_waiting = max_waiting;
    plan.probe = [](Evaluator&) { return Status(); };
    plan.make_evaluator = make_evaluator;
    if (!make_evaluator)
      plan.make_evaluator = [body = evaluate](const SlotSpec&) -> Result<std::unique_ptr<Evaluator>> {
        return std::unique_ptr<Evaluator>(std::make_unique<FakeEvaluator>(body));
      };
    TOUCHSTONE_ASSIGN(scheduler, Scheduler::Create(std::move(plan)));
    TOUCHSTONE_ASSIGN(environment, Environment::Create({}, *scheduler, store.get(), selector.get()));
    TOUCHSTONE_ASSIGN(server,
                      Server::Start(options, {environment.get(), store.get(), scheduler.get(), store_folder, {}}));
    return {};
  }

  // In the order in which `touchstone serve` ends.
  void Stop() {
    server.reset();
    environment.reset();
    scheduler.reset();
    selector.reset();
    store.reset();
  }

  std::unique_ptr<Client> Connect(const std::string& name = "") const {
    ClientOptions client;
    client.endpoint = server->endpoint();
    client.name = name;
    client.timeout = std::chrono::seconds(60);
    return Client::Connect(client).value();
  }
};

// A socket that says what it likes.
class RawClient {
 public:
  explicit RawClient(const std::string& endpoint) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 60'000);
    socket_.connect(endpoint);
  }

  void Send(const std::vector<std::string>& frames) {
    for (size_t i = 0; i < frames.size(); ++i) {
      socket_.send(zmq::buffer(frames[i]), i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }
  // Empty: nothing came.
  std::vector<std::string> Receive() {
    std::vector<std::string> frames;
    zmq::message_t frame;
    do {
      if (!socket_.recv(frame).has_value()) return {};
      frames.push_back(frame.to_string());
    } while (frame.more());
    return frames;
  }
  zmq::socket_t& socket() { return socket_; }

 private:
  zmq::context_t context_{1};
  zmq::socket_t socket_{context_, zmq::socket_type::dealer};
};

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_ENV_SERVE_HARNESS_H_

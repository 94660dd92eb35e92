// kill -9 of the server, again and again, under load from several clients: nothing that was acknowledged is lost,
// nothing is done twice, no reward is wrong.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <random>
#include <set>

#include "tests/env/serve/harness.h"

namespace touchstone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kKills = 15;
constexpr int kClients = 4;

// One that nobody listens on now; the server takes it again and again.
std::string FreeEndpoint() {
  const UniqueFd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

class ServerProcess {
 public:
  ServerProcess(const std::string& store, const std::string& endpoint) {
    int out[2];
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    const UniqueFd read_end(out[0]);
    UniqueFd write_end(out[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
    std::string program = TOUCHSTONE_CHAOS_SERVER;
    std::string first = store;
    std::string second = endpoint;
    char* const argv[] = {program.data(), first.data(), second.data(), nullptr};
    EXPECT_EQ(::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv, environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    write_end.Reset();
    char ready[6] = {};
    EXPECT_EQ(::read(read_end.get(), ready, sizeof(ready)), 6) << "the server did not start";
  }
  ~ServerProcess() { Kill(); }

  void Kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

struct Acknowledged {
  std::string request_id;
  std::string rollout;
  double expected = 0;
  double speedup = 0;
};

double SpeedupOf(int client, int number) { return 1.0 + client + 0.001 * number; }

ScoreRequest ScoreOf(int client, int number) {
  ScoreRequest score;
  score.task = "add";
  score.action.source = "// speedup=" + std::to_string(SpeedupOf(client, number));
  score.key.request_id = "n" + std::to_string(number);
  return score;
}

// Direct calls, and submitted ones that are collected later, until it is over.
void RunClient(int number, const std::string& endpoint, std::atomic<bool>& over,
               std::vector<Acknowledged>& acknowledged, std::atomic<int>& failures) {
  ClientOptions options;
  options.endpoint = endpoint;
  options.name = "client" + std::to_string(number);
  options.timeout = seconds(60);
  auto client = Client::Connect(options).value();
  std::map<std::string, int> pending;
  const auto note = [&](const std::string& id, int i, const ScoreReply& reply) {
    acknowledged.push_back({id, reply.info.rollout, SpeedupOf(number, i), reply.info.result.rewarded_speedup});
  };
  for (int i = 0; !over || !pending.empty(); ++i) {
    if (!over && i % 2 == 0) {
      const auto reply = client->Score(ScoreOf(number, i));
      if (reply.ok()) note("n" + std::to_string(i), i, *reply);
      if (!reply.ok()) ++failures;
      continue;
    }
    if (!over) {
      const auto id = client->Submit(ScoreOf(number, i));
      if (id.ok()) pending.emplace(*id, i);
      if (!id.ok()) ++failures;
    }
    if (!over && pending.size() < 8) continue;
    std::vector<std::string> ids;
    for (const auto& [id, n] : pending) ids.push_back(id);
    const auto finished = client->Collect(ids, 100, seconds(30));
    if (!finished.ok()) {
      ++failures;
      continue;
    }
    for (const auto& one : *finished) {
      const auto job = pending.find(one.id);
      if (job == pending.end()) continue;  // the same again, because its acknowledgement was lost
      if (const auto* reply = std::get_if<ScoreReply>(&one.outcome)) note(one.id, job->second, *reply);
      if (std::holds_alternative<Error>(one.outcome)) ++failures;
      pending.erase(job);
    }
  }
}

TEST(ChaosTest, KillingTheServerLosesNothingAndDoublesNothing) {
  const TemporaryFolder folder;
  const std::string store_folder = folder / "store";
  const std::string endpoint = FreeEndpoint();
  auto server = std::make_unique<ServerProcess>(store_folder, endpoint);

  std::atomic<bool> over = false;
  std::atomic<int> failures = 0;
  std::vector<std::vector<Acknowledged>> acknowledged(kClients);
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] { RunClient(i, endpoint, over, acknowledged[static_cast<size_t>(i)], failures); });
  }
  std::mt19937 random(11);
  for (int kill = 0; kill < kKills; ++kill) {
    std::this_thread::sleep_for(milliseconds(50 + random() % 300));  // how far it gets is the dice's choice
    server->Kill();
    server = std::make_unique<ServerProcess>(store_folder, endpoint);
  }
  over = true;
  for (std::thread& client : clients) client.join();
  server->Kill();
  EXPECT_EQ(failures, 0);

  StoreOptions options;
  options.folder = store_folder;
  auto store = RolloutStore::Open(options).value();
  ASSERT_TRUE(store->Verify().ok());
  std::map<RequestKey, int> stored;
  RolloutFilter all;
  all.limit = 1'000'000;
  for (const RolloutSummary& summary : store->List(all).value()) {
    const auto record = store->Read(summary.id).value();
    EXPECT_EQ(++stored[record.request], 1) << record.request.request_id << " is there twice";
    EXPECT_DOUBLE_EQ(record.result.rewarded_speedup, ClaimedSpeedup(record.source));
  }
  size_t count = 0;
  for (int i = 0; i < kClients; ++i) {
    std::set<std::string> ids;
    for (const Acknowledged& one : acknowledged[static_cast<size_t>(i)]) {
      EXPECT_TRUE(ids.insert(one.request_id).second) << one.request_id << " was acknowledged twice";
      EXPECT_EQ(stored.count({"client" + std::to_string(i), one.request_id}), 1U) << one.request_id << " is lost";
      EXPECT_NEAR(one.speedup, one.expected, 1e-6);
      EXPECT_EQ(store->FindByRequest({"client" + std::to_string(i), one.request_id}).value()->id, one.rollout);
      ++count;
    }
  }
  EXPECT_GT(count, static_cast<size_t>(kKills));
  std::printf("%zu acknowledged rollouts over %d kills\n", count, kKills);
}

}  // namespace
}  // namespace touchstone

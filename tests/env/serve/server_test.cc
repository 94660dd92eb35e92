#include "env/serve/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <set>

#include "env/serve/wire.h"
#include "tests/env/serve/harness.h"

namespace touchstone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class ServerTest : public testing::Test {
 protected:
  void Start() {
    const Status started = harness_.Start();
    ASSERT_TRUE(started.ok()) << started.error().ToString();
  }

  ResetRequest Reset(int max_turns = 4) {
    ResetRequest reset;
    reset.tasks = {"add"};
    reset.max_turns = max_turns;
    return reset;
  }
  StepRequest Step(const std::string& session, const std::string& source = "// speedup=1.5") {
    StepRequest step;
    step.session = session;
    step.action.source = source;
    return step;
  }
  ScoreRequest Score(const std::string& source = "// speedup=1.5") {
    ScoreRequest score;
    score.task = "add";
    score.action.source = source;
    return score;
  }

  TemporaryFolder folder_;
  Gate gate_;
  Harness harness_;
};

TEST_F(ServerTest, AnEpisodeGoesOverTheWire) {
  Start();
  auto client = harness_.Connect();
  const auto facts = client->Describe();
  ASSERT_TRUE(facts.ok()) << facts.error().ToString();
  EXPECT_THAT(facts->tasks, testing::Contains("add"));
  EXPECT_EQ(facts->limits.at("max_source_bytes"), 1 << 20);
  const auto reset = client->Reset(Reset(2));
  ASSERT_TRUE(reset.ok()) << reset.error().ToString();
  EXPECT_EQ(reset->observation.text->task, "add");
  const auto step = client->Step(Step(reset->session));
  ASSERT_TRUE(step.ok()) << step.error().ToString();
  EXPECT_EQ(step->info.result.status, EvalStatus::kSuccess);
  EXPECT_DOUBLE_EQ(step->best_speedup, 1.5);
  ASSERT_TRUE(step->reward.has_value());
  EXPECT_FALSE(step->truncated);
  EXPECT_TRUE(client->Step(Step(reset->session))->truncated);
  const auto closed = client->Step(Step(reset->session));
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().code(), ErrorCode::kClosed);
  EXPECT_FALSE(*client->Close(reset->session));
  const auto health = client->Health();
  ASSERT_TRUE(health.ok());
  EXPECT_TRUE(health->ok);
  EXPECT_EQ(health->slots[0].name, "s0");
  EXPECT_THAT(*client->Metrics(), HasSubstr("touchstone_outcomes_total{status=\"success\"} 2"));
}

TEST_F(ServerTest, EveryMessageGetsExactlyOneReply) {
  Start();
  RawClient raw(harness_.server->endpoint());
  const std::string good = wire::EncodeRequest({{"c", "i"}, wire::DescribeRequest()});
  const struct {
    std::vector<std::string> frames;
    const char* id;  // of the reply
    const char* ok;
  } cases[] = {
      {{""}, "", "error"},
      {{"one"}, "", "error"},
      {{"i", "describe"}, "", "error"},
      {{"i", "describe", good, "more"}, "", "error"},
      {std::vector<std::string>(1000, "x"), "", "error"},
      {{"", "describe", good}, "", "error"},
      {{"i\n", "describe", good}, "", "error"},
      {{"i1", "nothing", good}, "i1", "error"},
      {{"i2", "describe", ""}, "i2", "error"},
      {{"i3", "describe", "\xc1"}, "i3", "error"},
      {{"i4", "step", good}, "i4", "error"},
      {{"i5", "describe", std::string(5 << 20, 'x')}, "i5", "error"},
      {{"i6", "describe", good}, "i6", "ok"},
  };
  for (const auto& row : cases) raw.Send(row.frames);
  for (const auto& row : cases) {
    const auto reply = raw.Receive();
    ASSERT_EQ(reply.size(), 3U);
    EXPECT_EQ(reply[0], row.id);
    EXPECT_EQ(reply[1], row.ok);
    if (reply[1] == "ok") continue;
    const auto error = wire::DecodeReply<wire::CallError>(reply[2]);
    ASSERT_TRUE(error.ok());
    EXPECT_FALSE(error->message.empty());
  }
}

TEST_F(ServerTest, RandomFramesDisturbNobody) {
  Start();
  RawClient raw(harness_.server->endpoint());
  std::mt19937 random(7);
  const auto bytes = [&](size_t most) {
    std::string text(random() % (most + 1), '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  };
  const int count = 2000;
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> frames;
    for (size_t n = 1 + random() % 4; n > 0; --n) frames.push_back(bytes(random() % 50 == 0 ? 100'000 : 40));
    if (frames.size() == 3 && random() % 2 == 0) frames[1] = wire::kMethods[random() % std::size(wire::kMethods)];
    raw.Send(frames);
  }
  for (int i = 0; i < count; ++i) ASSERT_EQ(raw.Receive().size(), 3U);
  auto client = harness_.Connect();
  EXPECT_TRUE(client->Score(Score()).ok());
}

// What is not even ZeroMQ.
TEST_F(ServerTest, AConnectionThatSpeaksOtherwiseIsEndedAndCounted) {
  Start();
  const std::string endpoint = harness_.server->endpoint();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const UniqueFd tcp(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(tcp.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  // A greeting of ZMTP 3 with a mechanism that does not exist, then noise.
  std::string noise("\xff\0\0\0\0\0\0\0\1\x7f\x03\x00NOTHING", 19);
  noise.resize(4096, '\x55');
  ASSERT_EQ(::send(tcp.get(), noise.data(), noise.size(), MSG_NOSIGNAL), static_cast<ssize_t>(noise.size()));
  std::string rest(4096, '\0');
  while (::recv(tcp.get(), rest.data(), rest.size(), 0) > 0) {
  }  // until the server hangs up
  auto client = harness_.Connect();
  EXPECT_TRUE(
      Eventually([&] { return client->Metrics()->find("touchstone_bad_connections_total 0") == std::string::npos; }));
}

TEST_F(ServerTest, AHugeFrameEndsItsConnectionOnly) {
  harness_.options.limits.max_message_bytes = 64 << 10;
  Start();
  auto client = harness_.Connect();
  ASSERT_TRUE(client->Describe().ok());
  RawClient raw(harness_.server->endpoint());
  raw.socket().set(zmq::sockopt::rcvtimeo, 200);
  raw.Send({"i", "describe", std::string(1 << 20, 'x')});
  EXPECT_TRUE(raw.Receive().empty());
  EXPECT_TRUE(client->Describe().ok());
}

TEST_F(ServerTest, ARequestThatComesTwiceIsDoneOnce) {
  std::atomic<int> evaluations = 0;
  harness_.evaluate = [&](const EvalRequest& request) {
    ++evaluations;
    return SuccessFor(request);
  };
  harness_.store_folder = folder_ / "store";
  Start();
  auto client = harness_.Connect("me");
  ScoreRequest score = Score();
  score.key.request_id = "again";
  const auto first = client->Score(score);
  const auto second = client->Score(score);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->info.rollout, second->info.rollout);
  EXPECT_EQ(evaluations, 1);
}

// --- submit, collect, cancel ----------------------------------------------------------------------------------------

TEST_F(ServerTest, WhatWasSubmittedIsCollectedFirstFinishedFirst) {
  Start();
  auto client = harness_.Connect();
  std::set<std::string> ids;
  for (int i = 0; i < 50; ++i) ids.insert(client->Submit(Score("// " + std::to_string(i))).value());
  std::set<std::string> seen;
  while (seen.size() < ids.size()) {
    const auto finished = client->Collect({}, 8, seconds(60));
    ASSERT_TRUE(finished.ok()) << finished.error().ToString();
    ASSERT_FALSE(finished->empty());
    for (const auto& one : *finished) {
      EXPECT_TRUE(seen.insert(one.id).second) << "came twice";
      EXPECT_TRUE(std::holds_alternative<ScoreReply>(one.outcome));
    }
  }
  EXPECT_EQ(seen, ids);
  EXPECT_TRUE(client->Collect({}, 8, milliseconds(0))->empty());
}

TEST_F(ServerTest, AResultIsHandedOutUntilItIsAcknowledged) {
  Start();
  const std::string id = harness_.Connect("me")->Submit(Score()).value();
  for (int i = 0; i < 2; ++i) {  // a client that dies after each collect
    auto again = harness_.Connect("me");
    const auto finished = again->Collect({}, 8, seconds(60));
    ASSERT_EQ(finished->size(), 1U);
    EXPECT_EQ((*finished)[0].id, id);
  }
  auto last = harness_.Connect("me");
  ASSERT_EQ(last->Collect({id}, 8, seconds(60))->size(), 1U);
  EXPECT_TRUE(last->Collect({}, 8, milliseconds(0))->empty());
  const auto unknown = last->Collect({"nothing"}, 8, seconds(60));
  ASSERT_EQ(unknown->size(), 1U);
  EXPECT_EQ(std::get<Error>((*unknown)[0].outcome).code(), ErrorCode::kNotFound);
}

TEST_F(ServerTest, AClientThatWasLostFindsTheReplyOfItsStep) {
  harness_.evaluate = [&](const EvalRequest& request) {
    gate_.Pass();
    return SuccessFor(request);
  };
  Start();
  {
    RawClient dies(harness_.server->endpoint());
    dies.Send({"the-id", "score", wire::EncodeRequest({{"me", "the-id"}, Score()})});
    ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  }
  auto client = harness_.Connect("me");
  ASSERT_TRUE(client->Health().ok());
  gate_.Open();
  std::vector<Client::Finished> found;
  ASSERT_TRUE(Eventually([&] {
    found = client->Collect({"the-id"}, 1, milliseconds(0)).value();
    return !found.empty() && std::holds_alternative<ScoreReply>(found[0].outcome);
  }));
}

TEST_F(ServerTest, ACancelledRequestIsAnsweredAsSuch) {
  harness_.evaluate = [&](const EvalRequest& request) {
    gate_.Pass();
    return SuccessFor(request);
  };
  Start();
  auto client = harness_.Connect();
  const std::string runs = client->Submit(Score("// 1")).value();
  const std::string waits = client->Submit(Score("// 2")).value();
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1 && client->Health()->waiting == 1; }));
  EXPECT_TRUE(*client->Cancel(waits));
  const auto finished = client->Collect({waits}, 1, seconds(60));
  ASSERT_EQ(finished->size(), 1U);
  EXPECT_EQ(std::get<ScoreReply>((*finished)[0].outcome).info.result.status, EvalStatus::kCancelled);
  EXPECT_FALSE(*client->Cancel("nothing"));
  gate_.Open();
}

TEST_F(ServerTest, ADeadlineIsAnOutcome) {
  harness_.evaluate = [&](const EvalRequest& request) {
    gate_.Pass();
    return SuccessFor(request);
  };
  Start();
  auto client = harness_.Connect();
  ScoreRequest score = Score();
  score.deadline = milliseconds(5);
  const auto reply = client->Score(score);
  ASSERT_TRUE(reply.ok()) << reply.error().ToString();
  EXPECT_EQ(reply->info.result.status, EvalStatus::kDeadline);
  EXPECT_FALSE(reply->reward.has_value());
  gate_.Open();
}

TEST_F(ServerTest, AFullServerIsBusyAndTheClientWaits) {
  harness_.options.max_in_flight = 2;
  harness_.evaluate = [&](const EvalRequest& request) {
    gate_.Pass();
    return SuccessFor(request);
  };
  Start();
  auto client = harness_.Connect();
  ASSERT_TRUE(client->Submit(Score("// 1")).ok());
  ASSERT_TRUE(client->Submit(Score("// 2")).ok());
  ClientOptions impatient;
  impatient.endpoint = harness_.server->endpoint();
  impatient.wait_when_busy = false;
  auto other = Client::Connect(impatient).value();
  const auto busy = other->Submit(Score("// 3"));
  ASSERT_FALSE(busy.ok());
  EXPECT_EQ(busy.error().code(), ErrorCode::kExhausted);
  EXPECT_EQ(other->last_error().retry_after_ms, 5);
  EXPECT_FALSE(wire::IsRequestsFault(busy.error().code()));
  gate_.Open();
  EXPECT_TRUE(harness_.Connect()->Score(Score("// 4")).ok());
}

// --- restarts -------------------------------------------------------------------------------------------------------

TEST_F(ServerTest, AResultIsFoundByIdAfterARestart) {
  harness_.store_folder = folder_ / "store";
  Start();
  const std::string id = harness_.Connect("me")->Submit(Score()).value();
  ASSERT_EQ(harness_.Connect("me")->Collect({id}, 1, seconds(60))->size(), 1U);
  harness_.Stop();
  Start();
  const auto found = harness_.Connect("me")->Collect({id}, 1, seconds(60));
  ASSERT_EQ(found->size(), 1U);
  EXPECT_TRUE(std::holds_alternative<ScoreReply>((*found)[0].outcome));
  const auto others = harness_.Connect("you")->Collect({id}, 1, seconds(60));
  EXPECT_TRUE(std::holds_alternative<Error>((*others)[0].outcome));
}

TEST_F(ServerTest, WhatWasAcceptedIsTakenUpByTheNextServer) {
  harness_.store_folder = folder_ / "store";
  harness_.evaluate = [&](const EvalRequest& request) {
    gate_.Pass();
    return SuccessFor(request);
  };
  Start();
  auto client = harness_.Connect("me");
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(client->Submit(Score("// " + std::to_string(i))).value());
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  EXPECT_FALSE(harness_.server->Drain(milliseconds(1)));
  gate_.Open();
  harness_.Stop();
  Start();
  std::set<std::string> seen;
  auto again = harness_.Connect("me");
  while (seen.size() < ids.size()) {
    const auto finished = again->Collect(ids, 8, seconds(60));
    ASSERT_TRUE(finished.ok() && !finished->empty());
    for (const auto& one : *finished) {
      ASSERT_TRUE(std::holds_alternative<ScoreReply>(one.outcome)) << std::get<Error>(one.outcome).ToString();
      seen.insert(one.id);
    }
  }
  EXPECT_EQ(harness_.store->List({})->size(), 3U);
}

TEST_F(ServerTest, DrainingFinishesWhatRunsAndRefusesTheRest) {
  harness_.evaluate = [&](const EvalRequest& request) {
    gate_.Pass();
    return SuccessFor(request);
  };
  Start();
  RawClient raw(harness_.server->endpoint());
  raw.Send({"runs", "score", wire::EncodeRequest({{"me", "runs"}, Score("// 1")})});
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  raw.Send({"waits", "score", wire::EncodeRequest({{"me", "waits"}, Score("// 2")})});
  auto client = harness_.Connect();
  ASSERT_TRUE(Eventually([&] { return client->Health()->waiting == 1; }));
  std::thread drains([&] { EXPECT_TRUE(harness_.server->Drain(seconds(60))); });
  const auto refused = raw.Receive();
  ASSERT_EQ(refused.size(), 3U);
  EXPECT_EQ(refused[0], "waits");
  EXPECT_EQ(wire::DecodeReply<wire::CallError>(refused[2])->code, "unavailable");
  raw.Send({"late", "score", wire::EncodeRequest({{"me", "late"}, Score("// 3")})});
  EXPECT_EQ(wire::DecodeReply<wire::CallError>(raw.Receive().at(2))->code, "unavailable");
  gate_.Open();
  const auto finished = raw.Receive();
  EXPECT_EQ(finished.at(0), "runs");
  EXPECT_EQ(finished.at(1), "ok");
  drains.join();
}

TEST_F(ServerTest, WhatDoesNotEndInTimeIsReturned) {
  harness_.evaluate = [&](const EvalRequest& request) {
    gate_.Pass();
    return SuccessFor(request);
  };
  Start();
  RawClient raw(harness_.server->endpoint());
  raw.Send({"runs", "score", wire::EncodeRequest({{"me", "runs"}, Score()})});
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  EXPECT_FALSE(harness_.server->Drain(milliseconds(1)));
  EXPECT_EQ(raw.Receive().at(1), "error");
  gate_.Open();
}

// --- others ---------------------------------------------------------------------------------------------------------

TEST_F(ServerTest, TwoServersLiveInOneProcess) {
  Start();
  Harness other;
  ASSERT_TRUE(other.Start().ok());
  EXPECT_NE(other.server->endpoint(), harness_.server->endpoint());
  EXPECT_TRUE(harness_.Connect()->Score(Score()).ok());
  EXPECT_TRUE(other.Connect()->Score(Score()).ok());
}

TEST_F(ServerTest, AClientThatNeverReadsDisturbsNobody) {
  Start();
  RawClient stalls(harness_.server->endpoint());
  stalls.socket().set(zmq::sockopt::rcvhwm, 1);
  stalls.socket().set(zmq::sockopt::sndhwm, 0);
  const std::string describe = wire::EncodeRequest({{"s", "i"}, wire::DescribeRequest()});
  for (int i = 0; i < 20'000; ++i) stalls.Send({"i", "describe", describe});
  auto client = harness_.Connect();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(client->Score(Score("// " + std::to_string(i))).ok());
}

// Its loop waits in a call for as long as the gate is closed.
class StuckEnvironment final : public Environment {
 public:
  explicit StuckEnvironment(Gate& gate) : gate_(gate) {}
  void Reset(ResetRequest, Done<ResetReply> done) override {
    gate_.Pass();
    done(Error(ErrorCode::kInternal, "was stuck"));
  }
  void Step(StepRequest, Done<StepReply>) override {}
  void Score(ScoreRequest, Done<ScoreReply>) override {}
  void Validate(ValidateRequest, Done<ValidateReply>) override {}
  void Close(const std::string&, Done<bool>) override {}
  bool Cancel(const RequestKey&) override { return false; }
  Result<std::optional<StepReply>> FindStep(const RequestKey&) override { return std::optional<StepReply>(); }
  Result<std::optional<ScoreReply>> FindScore(const RequestKey&) override { return std::optional<ScoreReply>(); }
  Result<Selection> Sample(const SelectionRequest&) override { return Selection(); }
  Result<std::vector<Exemplar>> Exemplars(const Selection&) override { return std::vector<Exemplar>(); }
  size_t CloseIdle(std::chrono::steady_clock::time_point) override { return 0; }
  size_t open_sessions() const override { return 0; }
  std::vector<std::string> tasks() const override { return {}; }
  std::vector<std::string> methods() const override { return {}; }

 private:
  Gate& gate_;
};

TEST_F(ServerTest, HealthAnswersWhileAllElseIsStuck) {
  StuckEnvironment environment(gate_);
  auto server = Server::Start(harness_.options, {&environment, nullptr, nullptr, "", {}}).value();
  RawClient raw(server->endpoint());
  raw.Send({"i", "reset", wire::EncodeRequest({{"me", "i"}, ResetRequest()})});
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  ClientOptions options;
  options.endpoint = server->health_endpoint();
  options.timeout = seconds(60);
  auto client = Client::Connect(options).value();
  const auto health = client->Health();
  ASSERT_TRUE(health.ok()) << health.error().ToString();
  double silent = health->silent_s;
  EXPECT_TRUE(Eventually([&] { return client->Health()->silent_s > silent + 0.01; }));
  EXPECT_EQ(client->Describe().error().code(), ErrorCode::kInvalidArgument);
  gate_.Open();
  EXPECT_EQ(raw.Receive().at(1), "error");
}

TEST_F(ServerTest, PrometheusReadsItOverHttp) {
  ServerOptions& options = harness_.options;
  options.metrics_address = "0.0.0.0:0";
  const auto refused = harness_.Start();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message(), HasSubstr("metrics_address"));
}

}  // namespace
}  // namespace touchstone

// Who may connect, and whose results are whose.
#include "env/serve/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/env/serve/harness.h"

namespace touchstone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class CurveTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = NewKeys("server");
    alice_ = NewKeys("alice");
    bob_ = NewKeys("bob");
    mallory_ = NewKeys("mallory");
    std::ofstream(folder_ / "allowed") << "# who may connect\n\n" << alice_ << " alice\n" << bob_ << " bob\n";
    harness_.options.secret_key_file = folder_ / "server";
    harness_.options.allowed_clients_file = folder_ / "allowed";
  }

  std::string NewKeys(const std::string& name) {
    const KeyPair pair = NewKeyPair();
    EXPECT_TRUE(WriteKeyPair(folder_ / name, pair).ok());
    return pair.public_key;
  }

  std::unique_ptr<Client> ConnectAs(const std::string& key_file, const std::string& name,
                                    milliseconds timeout = seconds(60)) {
    ClientOptions options;
    options.endpoint = harness_.server->endpoint();
    options.name = name;
    options.server_key = server_;
    options.key_file = folder_ / key_file;
    options.timeout = timeout;
    return Client::Connect(options).value();
  }

  static ScoreRequest Score() {
    ScoreRequest score;
    score.task = "add";
    score.action.source = "// speedup=1.5";
    return score;
  }

  TemporaryFolder folder_;
  std::string server_, alice_, bob_, mallory_;
  Harness harness_;
};

TEST_F(CurveTest, WhoIsOnTheListMayConnect) {
  ASSERT_TRUE(harness_.Start().ok());
  EXPECT_TRUE(ConnectAs("alice", "a")->Score(Score()).ok());
  EXPECT_TRUE(ConnectAs("bob", "b")->Health().ok());
}

// Whoever is refused soon enough has no connection left to send on; sending used to wait for one for ever.
TEST_F(CurveTest, WhoIsNotOrHasNoKeyMayNot) {
  ASSERT_TRUE(harness_.Start().ok());
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(ConnectAs("mallory", "a", milliseconds(50))->Health().error().code(), ErrorCode::kDeadline);
  RawClient plain(harness_.server->endpoint());
  plain.socket().set(zmq::sockopt::rcvtimeo, 300);
  plain.socket().set(zmq::sockopt::sndtimeo, 300);
  plain.Send({"i", "health", ""});
  EXPECT_TRUE(plain.Receive().empty());
  EXPECT_THAT(*ConnectAs("alice", "a")->Metrics(), testing::Not(HasSubstr("touchstone_bad_connections_total 0")));
}

// The attack: bob takes alice's name and asks for her result by its id. Without keys (the control) it works, which is
// why every client of a server without keys must be trusted.
TEST_F(CurveTest, ANameBelongsToItsKey) {
  ASSERT_TRUE(harness_.Start().ok());
  const std::string id = ConnectAs("alice", "shared")->Submit(Score()).value();
  const auto stolen = ConnectAs("bob", "shared")->Collect({id}, 1, seconds(60));
  ASSERT_EQ(stolen->size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Error>((*stolen)[0].outcome));
  EXPECT_FALSE(*ConnectAs("bob", "shared")->Cancel(id));
  const auto own = ConnectAs("alice", "shared")->Collect({id}, 1, seconds(60));
  EXPECT_TRUE(std::holds_alternative<ScoreReply>((*own)[0].outcome));

  Harness open;
  ASSERT_TRUE(open.Start().ok());
  const std::string unprotected = open.Connect("shared")->Submit(Score()).value();
  const auto taken = open.Connect("shared")->Collect({unprotected}, 1, seconds(60));
  EXPECT_TRUE(std::holds_alternative<ScoreReply>((*taken)[0].outcome));
}

TEST(ServerAddressTest, AnotherInterfaceNeedsKeys) {
  for (const char* endpoint : {"tcp://0.0.0.0:*", "tcp://*:*", "tcp://eth0:*", "tcp://192.0.2.1:*", "tcp://[::]:*"}) {
    Harness harness;
    harness.options.endpoint = endpoint;
    const Status refused = harness.Start();
    ASSERT_FALSE(refused.ok()) << endpoint;
    EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(refused.error().message(), HasSubstr("allowed_clients_file"));
    harness.options.endpoint = "tcp://127.0.0.1:*";
    harness.options.health_endpoint = endpoint;
    EXPECT_FALSE(harness.Start().ok()) << endpoint;
  }
}

TEST_F(CurveTest, WithKeysAnotherInterfaceIsServed) {
  harness_.options.endpoint = "tcp://0.0.0.0:*";
  const Status started = harness_.Start();
  ASSERT_TRUE(started.ok()) << started.error().ToString();
}

TEST_F(CurveTest, KeyFilesAreForTheirOwnerOnly) {
  const std::string path = folder_ / "alice";
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  EXPECT_EQ(ReadKeyPair(path)->public_key, alice_);
  EXPECT_FALSE(WriteKeyPair(path, NewKeyPair()).ok());  // never over another one
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_THAT(ReadKeyPair(path).error().message(), HasSubstr("chmod 600"));
  EXPECT_EQ(ReadKeyPair(folder_ / "nothing").error().code(), ErrorCode::kNotFound);
}

TEST_F(CurveTest, BadFilesAreNamedWithTheirLine) {
  const auto allowed = [&](const std::string& text) {
    std::ofstream(folder_ / "list") << text;
    const auto read = ReadAllowedClients(folder_ / "list");
    return read.ok() ? std::string() : read.error().message();
  };
  EXPECT_EQ(allowed(""), "");
  EXPECT_THAT(allowed("# a\nabc alice\n"), HasSubstr("list:2: 'abc' is not a public key"));
  EXPECT_THAT(allowed(alice_ + "\n"), HasSubstr("list:1: name"));
  EXPECT_THAT(allowed(alice_ + " a/b\n"), HasSubstr("list:1: name"));
  EXPECT_THAT(allowed(alice_ + " a b\n"), HasSubstr("more than"));
  EXPECT_THAT(allowed(alice_ + " a\n" + alice_ + " b\n"), HasSubstr("list:2: the key is there twice"));
}

}  // namespace
}  // namespace touchstone

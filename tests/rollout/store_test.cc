#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "tests/rollout/store_fixture.h"

namespace touchstone {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SessionRecord MakeSession(const std::string& id) {
  SessionRecord session;
  session.id = id;
  session.request = {"client", "reset-" + id};
  session.opened = UnixMicros(1'700'000'000'000'000);
  session.spec = R"({"task": "add", "session": ")" + id + "\"}";
  return session;
}

RolloutRecord MakeStep(int number, const std::string& session, int turn) {
  RolloutRecord record = MakeRollout(number);
  record.session = session;
  record.turn = turn;
  return record;
}

Result<uint64_t> OpenSession(RolloutStore& store, const SessionRecord& session) {
  return Await([&](RolloutStore::Done done) { store.OpenSession(session, std::move(done)); });
}

Result<uint64_t> Accept(RolloutStore& store, const RequestKey& key) {
  return Await([&](RolloutStore::Done done) {
    store.Accept({key, UnixMicros(5), std::string("a\0b", 3)}, std::move(done));
  });
}

class StoreTest : public ::testing::Test {
 protected:
  TempFolder folder_;
  std::unique_ptr<RolloutStore> store_ = OpenStore(folder_.path() + "/made/on/demand");
  const std::string path_ = folder_.path() + "/made/on/demand";

  void Reopen() {
    store_.reset();
    store_ = OpenStore(path_);
  }
};

TEST_F(StoreTest, EveryFieldComesBackAfterReopening) {
  ASSERT_THAT(OpenSession(*store_, MakeSession("s1")), Succeeds());
  RolloutRecord record = MakeStep(1, "s1", 3);
  record.group_id = "g";
  record.parent = "r0";
  record.exemplars = {"e1", "e\"2"};
  record.policy_version = "step-17";
  record.prompt_hash = "abcd";
  record.response = "Thus:\n```cpp\n" + record.source + "\n```" + std::string("\0\xff", 2);
  record.code_begin = 13;
  record.code_end = 40;
  record.reward_increment = -0.25;
  record.best_speedup = 2.75;
  record.terminated = true;
  record.truncated = true;
  record.result.evidence.push_back({"slow_start", Evidence::Severity::kInfo, "…", {{"us", 3.5}}});
  record.result.key_hex = "00ff";
  record.result.layers = {"seccomp", "landlock"};
  const auto sequence = store_->Append(record);
  ASSERT_THAT(sequence, Succeeds());
  EXPECT_EQ(*sequence, 1u);
  Reopen();

  const auto read = store_->Read("r1");
  ASSERT_THAT(read, Succeeds());
  EXPECT_EQ(read->sequence, 1u);
  EXPECT_EQ(read->id, record.id);
  EXPECT_EQ(read->request, record.request);
  EXPECT_EQ(read->time, record.time);
  EXPECT_EQ(read->session, "s1");
  EXPECT_EQ(read->turn, 3);
  EXPECT_EQ(read->task, "add");
  EXPECT_EQ(read->group_id, "g");
  EXPECT_EQ(read->parent, "r0");
  EXPECT_EQ(read->exemplars, record.exemplars);
  EXPECT_EQ(read->policy_version, "step-17");
  EXPECT_EQ(read->prompt_hash, "abcd");
  EXPECT_EQ(read->response, record.response);
  EXPECT_EQ(read->source, record.source);
  EXPECT_EQ(read->code_begin, 13);
  EXPECT_EQ(read->code_end, 40);
  EXPECT_EQ(ToJson(read->result), ToJson(record.result));
  EXPECT_EQ(read->reward_preset, "speedup");
  EXPECT_EQ(read->reward, 1.5);
  EXPECT_EQ(read->reward_increment, -0.25);
  EXPECT_EQ(read->best_speedup, 2.75);
  EXPECT_TRUE(read->terminated);
  EXPECT_TRUE(read->truncated);
  EXPECT_EQ(read->score(), 1.5);

  EXPECT_EQ(store_->Read(uint64_t{1})->id, "r1");
  EXPECT_EQ((*store_->FindByRequest(record.request))->id, "r1");
  EXPECT_EQ(store_->last_sequence(), 1u);
  EXPECT_THAT(store_->Verify(), Succeeds());
}

TEST_F(StoreTest, WhatIsNotThereIsNotFound) {
  EXPECT_THAT(store_->Read("nobody"), Fails(ErrorCode::kNotFound, "'nobody'"));
  EXPECT_THAT(store_->Read(uint64_t{7}), Fails(ErrorCode::kNotFound, "7"));
  EXPECT_EQ(*store_->FindByRequest({"client", "nothing"}), std::nullopt);
  EXPECT_EQ(*store_->FindSession("s"), std::nullopt);
  EXPECT_EQ(store_->last_sequence(), 0u);
}

TEST_F(StoreTest, ARewardThatIsNotThereStaysSo) {
  RolloutRecord record = MakeRollout(1);
  record.reward.reset();
  record.result.status = EvalStatus::kIncorrect;
  ASSERT_THAT(store_->Append(record), Succeeds());
  EXPECT_EQ(store_->Read("r1")->reward, std::nullopt);
  EXPECT_EQ(store_->List({})->front().score, std::nullopt);
}

TEST_F(StoreTest, ADuplicateIsRefusedAndLeavesNothing) {
  ASSERT_THAT(OpenSession(*store_, MakeSession("s")), Succeeds());
  ASSERT_THAT(store_->Append(MakeStep(1, "s", 0)), Succeeds());
  RolloutRecord same_id = MakeRollout(2);
  same_id.id = "r1";
  EXPECT_THAT(store_->Append(same_id), Fails(ErrorCode::kInvalidArgument, "id: rollout 'r1'"));
  RolloutRecord same_request = MakeRollout(3);
  same_request.request = MakeRollout(1).request;
  EXPECT_THAT(store_->Append(same_request), Fails(ErrorCode::kInvalidArgument, "request: a rollout of client"));
  EXPECT_THAT(store_->Append(MakeStep(4, "s", 0)), Fails(ErrorCode::kInvalidArgument, "turn: turn 0 of session 's'"));
  RolloutRecord as_reset = MakeRollout(5);
  as_reset.request = MakeSession("s").request;
  EXPECT_THAT(store_->Append(as_reset), Fails(ErrorCode::kInvalidArgument, "as a session"));
  SessionRecord as_step = MakeSession("t");
  as_step.request = MakeRollout(1).request;
  EXPECT_THAT(OpenSession(*store_, as_step), Fails(ErrorCode::kInvalidArgument, "as a rollout"));
  EXPECT_THAT(OpenSession(*store_, MakeSession("s")), Fails(ErrorCode::kInvalidArgument, "is already stored"));

  // Another client may use the same name for its request, and turns of no session do not collide.
  RolloutRecord other = MakeRollout(6);
  other.request = {"other client", "q1"};
  const auto sequence = store_->Append(other);
  ASSERT_THAT(sequence, Succeeds());
  EXPECT_EQ(*sequence, 2u) << "refused writes use no sequence";
  const auto found = store_->Verify();
  ASSERT_THAT(found, Succeeds());
  // Two sources, one spec: nothing of the refused ones.
  EXPECT_THAT(*found, ::testing::StartsWith("2 rollouts, 1 sessions, 3 texts, 0 pending"));
}

TEST_F(StoreTest, TheGoodWritesOfABatchSurviveABadOne) {
  std::vector<Result<uint64_t>> results(100, Error(ErrorCode::kInternal, "not called"));
  for (int i = 0; i < 100; ++i) {
    // Every tenth has the id of the one before it.
    RolloutRecord record = MakeRollout(i);
    if (i % 10 == 9) record.id = "r" + std::to_string(i - 1);
    store_->Append(record, [&results, i](Result<uint64_t> result) { results[i] = std::move(result); });
  }
  Reopen();
  for (int i = 0; i < 100; ++i) {
    if (i % 10 == 9) {
      EXPECT_THAT(results[i], Fails(ErrorCode::kInvalidArgument, "id")) << i;
    } else {
      ASSERT_THAT(results[i], Succeeds()) << i;
      EXPECT_EQ(store_->Read(*results[i])->id, "r" + std::to_string(i));
    }
  }
  EXPECT_EQ(store_->last_sequence(), 90u);
  EXPECT_THAT(store_->Verify(), Succeeds());
}

TEST_F(StoreTest, BadFieldsAreNamedWithTheirLimit) {
  RolloutRecord record = MakeRollout(1);
  record.id.clear();
  EXPECT_THAT(store_->Append(record), Fails(ErrorCode::kInvalidArgument, "id: is empty"));
  record = MakeRollout(1);
  record.request.request_id.clear();
  EXPECT_THAT(store_->Append(record), Fails(ErrorCode::kInvalidArgument, "request.request_id: is empty"));
  record = MakeRollout(1);
  record.group_id = std::string(1025, 'g');
  EXPECT_THAT(store_->Append(record), Fails(ErrorCode::kInvalidArgument, "group_id: 1025 bytes, the limit is 1024"));
  record = MakeRollout(1);
  record.task = std::string("a\0b", 3);
  EXPECT_THAT(store_->Append(record), Fails(ErrorCode::kInvalidArgument, "task: holds a zero byte"));
  record = MakeRollout(1);
  record.turn = -1;
  EXPECT_THAT(store_->Append(record), Fails(ErrorCode::kInvalidArgument, "turn: -1"));
  record = MakeRollout(1);
  record.reward = std::nan("");
  EXPECT_THAT(store_->Append(record), Fails(ErrorCode::kInvalidArgument, "reward: not a finite number"));
  record = MakeRollout(1);
  record.session = "unknown";
  EXPECT_THAT(store_->Append(record), Fails(ErrorCode::kInvalidArgument, "session: no session 'unknown'"));
  EXPECT_EQ(store_->last_sequence(), 0u);
}

TEST_F(StoreTest, ListsFilter) {
  for (int i = 0; i < 12; ++i) {
    RolloutRecord record = MakeRollout(i, i % 2 == 0 ? "add" : "mul", i);
    record.group_id = i < 6 ? "g0" : "g1";
    record.policy_version = i % 3 == 0 ? "p0" : "p1";
    if (i % 4 == 3) record.result.status = EvalStatus::kIncorrect;
    ASSERT_THAT(store_->Append(record), Succeeds());
  }
  const auto ids = [&](const RolloutFilter& filter) {
    std::vector<std::string> found;
    for (const RolloutSummary& summary : *store_->List(filter)) found.push_back(summary.id);
    return found;
  };
  RolloutFilter filter;
  filter.task = "mul";
  EXPECT_THAT(ids(filter), ElementsAre("r1", "r3", "r5", "r7", "r9", "r11"));
  filter.group_id = "g1";
  EXPECT_THAT(ids(filter), ElementsAre("r7", "r9", "r11"));
  filter.eligible_only = true;
  EXPECT_THAT(ids(filter), ElementsAre("r9"));
  filter = {};
  filter.policy_version = "p0";
  filter.after = 4;
  filter.limit = 1;
  EXPECT_THAT(ids(filter), ElementsAre("r6"));
  filter = {};
  filter.status = EvalStatus::kIncorrect;
  EXPECT_THAT(ids(filter), ElementsAre("r3", "r7", "r11"));
  filter = {};
  filter.session = "none";
  EXPECT_THAT(ids(filter), IsEmpty());
}

TEST_F(StoreTest, SessionsLiveFromOpenToClose) {
  ASSERT_THAT(OpenSession(*store_, MakeSession("s1")), Succeeds());
  ASSERT_THAT(OpenSession(*store_, MakeSession("s2")), Succeeds());
  for (int turn : {1, 0, 2}) ASSERT_THAT(store_->Append(MakeStep(turn, "s1", turn)), Succeeds());
  const auto close = [&](const std::string& id) {
    return Await([&](RolloutStore::Done done) { store_->CloseSession(id, UnixMicros(9), "idle", std::move(done)); });
  };
  EXPECT_THAT(close("s2"), Succeeds());
  EXPECT_THAT(close("s2"), Fails(ErrorCode::kInvalidArgument, "closed already"));
  EXPECT_THAT(close("s3"), Fails(ErrorCode::kNotFound, "'s3'"));
  Reopen();

  const auto open = store_->OpenSessions();
  ASSERT_THAT(open, Succeeds());
  ASSERT_EQ(open->size(), 1u);
  EXPECT_EQ(open->front().id, "s1");
  EXPECT_EQ(open->front().spec, MakeSession("s1").spec);
  const auto closed = store_->FindSession("s2");
  ASSERT_TRUE(closed.ok() && closed->has_value());
  EXPECT_EQ((*closed)->why_closed, "idle");
  EXPECT_EQ((*closed)->closed, UnixMicros(9));
  EXPECT_EQ((*store_->FindSessionByRequest(MakeSession("s1").request))->id, "s1");
  std::vector<int> turns;
  for (const RolloutRecord& record : *store_->RolloutsOf("s1")) turns.push_back(record.turn);
  EXPECT_THAT(turns, ElementsAre(0, 1, 2));
  EXPECT_THAT(store_->Verify(), Succeeds());
}

TEST_F(StoreTest, APendingRequestEndsWithItsRolloutOrIsForgotten) {
  ASSERT_THAT(Accept(*store_, {"client", "q1"}), Succeeds());
  ASSERT_THAT(Accept(*store_, {"client", "q2"}), Succeeds());
  ASSERT_THAT(Accept(*store_, {"client", "q3"}), Succeeds());
  EXPECT_THAT(Accept(*store_, {"client", "q3"}), Fails(ErrorCode::kInvalidArgument, "is pending already"));
  ASSERT_THAT(store_->Append(MakeRollout(1)), Succeeds());
  EXPECT_THAT(Await([&](RolloutStore::Done done) { store_->Forget({"client", "q3"}, std::move(done)); }), Succeeds());
  Reopen();
  const auto pending = store_->Pending();
  ASSERT_THAT(pending, Succeeds());
  ASSERT_EQ(pending->size(), 1u);
  EXPECT_EQ(pending->front().request, (RequestKey{"client", "q2"}));
  EXPECT_EQ(pending->front().accepted, UnixMicros(5));
  EXPECT_EQ(pending->front().payload, std::string("a\0b", 3));
  EXPECT_THAT(Accept(*store_, {"client", "q1"}), Fails(ErrorCode::kInvalidArgument, "already stored, as a rollout"));
}

TEST_F(StoreTest, EqualTextsAreStoredOnce) {
  for (int i = 0; i < 10; ++i) {
    RolloutRecord record = MakeRollout(i);
    record.source = "the same";
    record.response = "the same";
    ASSERT_THAT(store_->Append(record), Succeeds());
  }
  EXPECT_THAT(*store_->Verify(), ::testing::StartsWith("10 rollouts, 0 sessions, 1 texts"));
}

TEST_F(StoreTest, WritersOfManyThreadsGetEachTheirOwnSequence) {
  constexpr int kThreads = 8;
  constexpr int kEach = 200;
  std::vector<std::vector<uint64_t>> sequences(kThreads);
  std::atomic<bool> stop{false};
  // Meanwhile somebody reads, and sees whole rollouts only.
  std::thread reader([&] {
    while (!stop) {
      const auto listed = store_->List({});
      ASSERT_THAT(listed, Succeeds());
      if (listed->empty()) continue;
      ASSERT_THAT(store_->Read(listed->back().id), Succeeds());
    }
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const auto sequence = store_->Append(MakeRollout(t * kEach + i));
        ASSERT_THAT(sequence, Succeeds());
        // Acknowledged means visible.
        ASSERT_GE(store_->last_sequence(), *sequence);
        sequences[t].push_back(*sequence);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop = true;
  reader.join();
  std::vector<uint64_t> all;
  for (const auto& some : sequences) {
    EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i + 1);
  EXPECT_EQ(all.size(), size_t{kThreads * kEach});
}

// The profile `check` times nothing. A score of 0 would have made such a kernel the worst of its task: the rejected
// half of pairs.
TEST(RolloutRecordTest, ASuccessThatNothingTimedHasNoScore) {
  RolloutRecord record = MakeRollout(1, "add", 2.5);
  record.result.rewarded_speedup = 0;
  EXPECT_EQ(record.score(), std::nullopt);
}

// The attack: a kernel scored against a slow baseline of one's own came before every other exemplar of its task.
TEST(RolloutRecordTest, ASuccessAgainstABaselineOfOnesOwnHasNoScore) {
  RolloutRecord record = MakeRollout(1, "add", 20);
  EXPECT_EQ(record.score(), 20);
  record.result.baseline = "0123456789abcdef";
  EXPECT_EQ(record.score(), std::nullopt);
}

TEST(RolloutRecordTest, OnlyAnUnsuspectedSuccessHasAScore) {
  RolloutRecord record = MakeRollout(1, "add", 2.5);
  EXPECT_EQ(record.score(), 2.5);
  record.result.evidence = {{"note", Evidence::Severity::kInfo, "", {}}};
  EXPECT_EQ(record.score(), 2.5);
  record.result.evidence.push_back({"odd", Evidence::Severity::kSuspicious, "", {}});
  EXPECT_EQ(record.score(), std::nullopt);
  record.result.evidence = {{"bad", Evidence::Severity::kCondemns, "", {}}};
  EXPECT_EQ(record.score(), std::nullopt);
  record.result.evidence.clear();
  for (EvalStatus status : {EvalStatus::kIncorrect, EvalStatus::kUnverified, EvalStatus::kUnstable,
                            EvalStatus::kCheating, EvalStatus::kEnvironmentError}) {
    record.result.status = status;
    EXPECT_EQ(record.score(), std::nullopt) << ToString(status);
  }
}

}  // namespace
}  // namespace touchstone

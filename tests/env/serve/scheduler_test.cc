#include "env/serve/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "tests/env/serve/fakes.h"

namespace touchstone {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::HasSubstr;

// --- the queue ------------------------------------------------------------------------------------------------------

std::unique_ptr<ScheduledJob> Waiting(const std::string& client, const std::string& id, int priority = 0) {
  auto job = std::make_unique<ScheduledJob>();
  job->job.key = {client, id};
  job->job.priority = priority;
  return job;
}

std::vector<std::string> PopAll(WaitQueue& queue) {
  std::vector<std::string> order;
  while (auto job = queue.PopAny()) order.push_back(job->job.key.client + job->job.key.request_id);
  return order;
}

TEST(WaitQueueTest, ClientsTakeTurns) {
  WaitQueue queue;
  for (const char* id : {"1", "2", "3"}) ASSERT_TRUE(queue.Push(Waiting("a", id)));
  ASSERT_TRUE(queue.Push(Waiting("b", "1")));
  ASSERT_TRUE(queue.Push(Waiting("c", "1", 10)));
  ASSERT_TRUE(queue.Push(Waiting("b", "2")));
  EXPECT_THAT(PopAll(queue), ElementsAre("a1", "b1", "c1", "a2", "b2", "a3"));
  EXPECT_EQ(queue.size(), 0U);
}

TEST(WaitQueueTest, OneClientsJobsGoByPriorityThenArrival) {
  WaitQueue queue;
  queue.Push(Waiting("a", "1"));
  queue.Push(Waiting("a", "2", 5));
  queue.Push(Waiting("a", "3", -1));
  queue.Push(Waiting("a", "4", 5));
  EXPECT_THAT(PopAll(queue), ElementsAre("a2", "a4", "a1", "a3"));
}

TEST(WaitQueueTest, AKeyIsThereOnceAndCanBeRemoved) {
  WaitQueue queue;
  EXPECT_TRUE(queue.Push(Waiting("a", "1")));
  EXPECT_FALSE(queue.Push(Waiting("a", "1")));
  EXPECT_NE(queue.Remove({"a", "1"}), nullptr);
  EXPECT_EQ(queue.Remove({"a", "1"}), nullptr);
  EXPECT_TRUE(queue.Push(Waiting("a", "1")));
}

TEST(WaitQueueTest, WhatMayNotGoIsPassedOver) {
  WaitQueue queue;
  queue.Push(Waiting("a", "1"));
  queue.Push(Waiting("a", "2"));
  const auto job = queue.Pop([](const ScheduledJob& one) { return one.job.key.request_id == "2"; });
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->job.key.request_id, "2");
  EXPECT_EQ(queue.Pop([](const ScheduledJob&) { return false; }), nullptr);
  EXPECT_EQ(queue.size(), 1U);
}

// --- the scheduler --------------------------------------------------------------------------------------------------

class SchedulerTest : public testing::Test {
 protected:
  using Body = std::function<Result<EvalResult>(const std::string& slot, const EvalRequest&)>;

  void Start(std::vector<SlotSpec> slots, Body body) {
    options_.slots = std::move(slots);
    options_.make_evaluator = [body](const SlotSpec& slot) -> Result<std::unique_ptr<Evaluator>> {
      return std::unique_ptr<Evaluator>(
          std::make_unique<FakeEvaluator>([body, name = slot.name](const EvalRequest& r) { return body(name, r); }));
    };
    if (!options_.probe) options_.probe = [](Evaluator&) { return Status(); };
    options_.first_reprobe = milliseconds(1);
    auto made = Scheduler::Create(options_);
    ASSERT_TRUE(made.ok()) << made.error().ToString();
    scheduler_ = *std::move(made);
  }

  EvaluationJob Job(const std::string& client, const std::string& id, bool timed = true) {
    EvaluationJob job;
    job.key = {client, id};
    job.request.source = id;
    if (!timed) job.request.profile.min_rounds = job.request.profile.max_rounds = 0;
    job.done = [this, key = job.key](Result<EvalResult> result) {
      MutexLock lock(mutex_);
      order_.push_back(key.client + key.request_id);
      results_.emplace(key, std::move(result));
    };
    return job;
  }

  // The result of a job, once it is there.
  Result<EvalResult> Wait(const std::string& client, const std::string& id) {
    const RequestKey key{client, id};
    const bool came = Eventually([&] {
      MutexLock lock(mutex_);
      return results_.count(key) > 0;
    });
    if (!came) return Error(ErrorCode::kDeadline, "no result");
    MutexLock lock(mutex_);
    return results_.find(key)->second;
  }

  std::vector<std::string> order() {
    MutexLock lock(mutex_);
    return order_;
  }

  SlotState StateOf(size_t slot) { return scheduler_->status().slots[slot].state; }

  SchedulerOptions options_;
  Gate gate_;
  Mutex mutex_;
  std::multimap<RequestKey, Result<EvalResult>> results_;
  std::vector<std::string> order_;
  std::unique_ptr<Scheduler> scheduler_;  // last: its threads use the rest
};

TEST_F(SchedulerTest, EveryJobIsAnsweredOnce) {
  Start({{"s0", {0}}, {"s1", {1}}}, [](const std::string&, const EvalRequest& r) { return SuccessFor(r); });
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(scheduler_->Submit(Job("c" + std::to_string(i % 7), std::to_string(i))).ok());
  }
  ASSERT_TRUE(Eventually([&] { return order().size() == 200; }));
  scheduler_.reset();
  EXPECT_EQ(results_.size(), 200U);
  for (const auto& [key, result] : results_) {
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->status, EvalStatus::kSuccess);
    EXPECT_EQ(results_.count(key), 1U);
    EXPECT_EQ(result->environment.at("cores_shared"), "no");
    EXPECT_GE(result->budget_ms.at("queue"), 0);
  }
}

TEST_F(SchedulerTest, AClientWithOneJobIsNotBehindAClientWithMany) {
  Start({{"s0", {0}}}, [&](const std::string&, const EvalRequest& r) {
    gate_.Pass();
    return SuccessFor(r);
  });
  ASSERT_TRUE(scheduler_->Submit(Job("a", "0")).ok());
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  for (const char* id : {"1", "2", "3"}) ASSERT_TRUE(scheduler_->Submit(Job("a", id)).ok());
  ASSERT_TRUE(scheduler_->Submit(Job("b", "1")).ok());
  gate_.Open();
  ASSERT_TRUE(Eventually([&] { return order().size() == 5; }));
  EXPECT_THAT(order(), ElementsAre("a0", "a1", "b1", "a2", "a3"));
}

TEST_F(SchedulerTest, AFullQueueRefuses) {
  options_.max_waiting = 2;
  Start({{"s0", {0}}}, [&](const std::string&, const EvalRequest& r) {
    gate_.Pass();
    return SuccessFor(r);
  });
  ASSERT_TRUE(scheduler_->Submit(Job("a", "0")).ok());
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  ASSERT_TRUE(scheduler_->Submit(Job("a", "1")).ok());
  ASSERT_TRUE(scheduler_->Submit(Job("a", "2")).ok());
  const Status full = scheduler_->Submit(Job("a", "3"));
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code(), ErrorCode::kExhausted);
  const Status twice = scheduler_->Submit(Job("a", "0"));
  ASSERT_FALSE(twice.ok());
  gate_.Open();
  ASSERT_TRUE(Wait("a", "2").ok());
}

TEST_F(SchedulerTest, ADeadlineIncludesTheWaiting) {
  Start({{"s0", {0}}}, [&](const std::string&, const EvalRequest& r) {
    gate_.Pass();
    return SuccessFor(r);
  });
  EvaluationJob runs = Job("a", "runs");
  runs.deadline = steady_clock::now() + milliseconds(20);
  ASSERT_TRUE(scheduler_->Submit(std::move(runs)).ok());
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  EvaluationJob waits = Job("a", "waits");
  waits.deadline = steady_clock::now() + milliseconds(1);
  ASSERT_TRUE(scheduler_->Submit(std::move(waits)).ok());
  // Both are answered although the slot is still busy.
  EXPECT_EQ(Wait("a", "waits")->status, EvalStatus::kDeadline);
  EXPECT_EQ(Wait("a", "runs")->status, EvalStatus::kDeadline);
  EXPECT_EQ(Wait("a", "runs")->fault(), Fault::kNone);
  gate_.Open();
  ASSERT_TRUE(scheduler_->Submit(Job("a", "after")).ok());
  EXPECT_EQ(Wait("a", "after")->status, EvalStatus::kSuccess);
  scheduler_.reset();
  EXPECT_EQ(results_.size(), 3U);
}

TEST_F(SchedulerTest, ACancelledJobEndsAtOnceWhereItWaits) {
  Start({{"s0", {0}}}, [&](const std::string&, const EvalRequest& r) {
    gate_.Pass();
    return SuccessFor(r);
  });
  ASSERT_TRUE(scheduler_->Submit(Job("a", "runs")).ok());
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  ASSERT_TRUE(scheduler_->Submit(Job("a", "waits")).ok());
  EXPECT_TRUE(scheduler_->Cancel({"a", "waits"}));
  EXPECT_EQ(Wait("a", "waits")->status, EvalStatus::kCancelled);
  EXPECT_FALSE(scheduler_->Cancel({"a", "waits"}));
  EXPECT_TRUE(scheduler_->Cancel({"a", "runs"}));
  gate_.Open();
  EXPECT_EQ(Wait("a", "runs")->status, EvalStatus::kCancelled);
  EXPECT_EQ(Wait("a", "runs")->rewarded_speedup, 0);
}

TEST_F(SchedulerTest, ABadRequestIsNoFaultOfTheSlot) {
  std::atomic<int> evaluations = 0;
  Start({{"s0", {0}}}, [&](const std::string&, const EvalRequest&) -> Result<EvalResult> {
    ++evaluations;
    return Error(ErrorCode::kInvalidArgument, "interface: 'x' is not 'cpp'");
  });
  ASSERT_TRUE(scheduler_->Submit(Job("a", "1")).ok());
  EXPECT_EQ(Wait("a", "1").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(evaluations, 1);
}

// --- faults (V13) ---------------------------------------------------------------------------------------------------

TEST_F(SchedulerTest, AFaultOfOneSlotIsTriedOnAnother) {
  std::atomic<int> probes = 0;
  std::atomic<int> faults = 0;
  options_.probe = [&](Evaluator&) { return ++probes, Status(); };
  options_.on_environment_fault = [&](const std::string&) { ++faults; };
  std::atomic<bool> broke = false;
  Start({{"s0", {0}}, {"s1", {1}}},
        [&](const std::string&, const EvalRequest& r) { return broke.exchange(true) ? SuccessFor(r) : BrokenBy(r); });
  ASSERT_TRUE(Eventually([&] { return StateOf(0) == SlotState::kIdle && StateOf(1) == SlotState::kIdle; }));
  ASSERT_TRUE(scheduler_->Submit(Job("a", "1")).ok());
  EXPECT_EQ(Wait("a", "1")->status, EvalStatus::kSuccess);
  EXPECT_EQ(faults, 1);
  EXPECT_GE(probes, 4);  // two starts, the slot that broke, and the one with the second chance
  EXPECT_TRUE(Eventually([&] { return StateOf(0) == SlotState::kIdle && StateOf(1) == SlotState::kIdle; }));
}

TEST_F(SchedulerTest, WhoBreaksTwoWorkingSlotsHasHimselfToBlame) {
  Start({{"s0", {0}}, {"s1", {1}}}, [&](const std::string&, const EvalRequest& r) { return BrokenBy(r); });
  // A slot that still starts is none that works: the first would get the second chance itself.
  ASSERT_TRUE(Eventually([&] { return StateOf(0) == SlotState::kIdle && StateOf(1) == SlotState::kIdle; }));
  ASSERT_TRUE(scheduler_->Submit(Job("a", "1")).ok());
  const auto result = Wait("a", "1");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->status, EvalStatus::kRuntimeError);
  EXPECT_EQ(result->fault(), Fault::kCandidate);
  EXPECT_THAT(result->reason, HasSubstr("it broke slots s"));
  EXPECT_THAT(result->reason, HasSubstr("the judge went away"));
}

TEST_F(SchedulerTest, ASingleSlotGivesTheSecondChanceItself) {
  std::atomic<bool> broke = false;
  Start({{"s0", {0}}}, [&](const std::string&, const EvalRequest& r) -> Result<EvalResult> {
    if (!broke.exchange(true)) return Error(ErrorCode::kUnavailable, "no spawner");
    return SuccessFor(r);
  });
  ASSERT_TRUE(scheduler_->Submit(Job("a", "1")).ok());
  EXPECT_EQ(Wait("a", "1")->status, EvalStatus::kSuccess);
}

TEST_F(SchedulerTest, ASlotThatFailsItsProbeIsQuarantinedUntilItWorks) {
  std::atomic<bool> works = true;
  std::atomic<bool> broke = false;
  options_.probe = [&](Evaluator&) -> Status {
    if (works) return {};
    return Error(ErrorCode::kUnavailable, "no memory");
  };
  Start({{"s0", {0}}}, [&](const std::string&, const EvalRequest& r) {
    if (broke.exchange(true)) return SuccessFor(r);
    works = false;
    return BrokenBy(r);
  });
  ASSERT_TRUE(scheduler_->Submit(Job("a", "1")).ok());
  ASSERT_TRUE(Eventually([&] { return StateOf(0) == SlotState::kQuarantined; }));
  EXPECT_THAT(scheduler_->status().slots[0].why, HasSubstr("no memory"));
  EXPECT_TRUE(order().empty());
  works = true;
  EXPECT_EQ(Wait("a", "1")->status, EvalStatus::kSuccess);
}

// A host that breaks everything must not make candidates look bad.
TEST_F(SchedulerTest, WhereNoSlotPassesAProbeNobodyIsBlamed) {
  std::atomic<bool> works = true;
  options_.probe = [&](Evaluator&) -> Status {
    if (works) return {};
    return Error(ErrorCode::kUnavailable, "disk full");
  };
  options_.hopeless_after = milliseconds(50);
  Start({{"s0", {0}}, {"s1", {1}}}, [&](const std::string&, const EvalRequest& r) {
    works = false;
    return BrokenBy(r);
  });
  ASSERT_TRUE(Eventually([&] { return StateOf(0) == SlotState::kIdle && StateOf(1) == SlotState::kIdle; }));
  ASSERT_TRUE(scheduler_->Submit(Job("a", "1")).ok());
  // s1 is never used and so keeps being thought of as working until it is asked for the second chance.
  const auto result = Wait("a", "1");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kUnavailable);
  ASSERT_TRUE(Eventually([&] {
    const Status status = scheduler_->Submit(Job("b", "1"));
    return !status.ok() && status.error().code() == ErrorCode::kUnavailable;
  }));
}

TEST_F(SchedulerTest, AnEvaluatorThatCannotBeMadeIsTriedAgain) {
  std::atomic<int> attempts = 0;
  options_.slots = {{"s0", {0}}};
  options_.probe = [](Evaluator&) { return Status(); };
  options_.first_reprobe = milliseconds(1);
  options_.make_evaluator = [&](const SlotSpec&) -> Result<std::unique_ptr<Evaluator>> {
    if (++attempts < 3) return Error(ErrorCode::kUnavailable, "no spawner");
    return std::unique_ptr<Evaluator>(
        std::make_unique<FakeEvaluator>([](const EvalRequest& r) { return SuccessFor(r); }));
  };
  scheduler_ = Scheduler::Create(options_).value();
  ASSERT_TRUE(scheduler_->Submit(Job("a", "1")).ok());
  EXPECT_EQ(Wait("a", "1")->status, EvalStatus::kSuccess);
  EXPECT_EQ(attempts, 3);
}

// --- cores ----------------------------------------------------------------------------------------------------------

TEST_F(SchedulerTest, UntimedSlotsTakeOnlyUntimedWorkAndSaySo) {
  Start({{"s0", {0}}, {"u0", {1}, true}, {"u1", {1}, true}}, [&](const std::string& slot, const EvalRequest& r) {
    if (slot == "s0") gate_.Pass();
    return SuccessFor(r);
  });
  ASSERT_TRUE(scheduler_->Submit(Job("a", "timed1")).ok());
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  ASSERT_TRUE(scheduler_->Submit(Job("a", "timed2")).ok());
  ASSERT_TRUE(scheduler_->Submit(Job("a", "check", false)).ok());
  EXPECT_EQ(Wait("a", "check")->environment.at("cores_shared"), "yes");
  EXPECT_EQ(scheduler_->status().waiting, 1U);
  gate_.Open();
  EXPECT_EQ(Wait("a", "timed2")->environment.at("slot"), "s0");
}

TEST(SchedulerOptionsTest, TimedSlotsMayNotShareACore) {
  SchedulerOptions options;
  const auto code = [&] {
    const auto made = Scheduler::Create(options);
    return made.ok() ? "" : made.error().message();
  };
  EXPECT_THAT(code(), HasSubstr("slots: there is none"));
  options.slots = {{"s0", {0, 1}}, {"s1", {1, 2}}};
  EXPECT_THAT(code(), HasSubstr("share core 1"));
  options.slots = {{"s0", {0, 1}}, {"u0", {1}, true}};
  EXPECT_THAT(code(), HasSubstr("share core 1"));
}

// --- the end --------------------------------------------------------------------------------------------------------

TEST_F(SchedulerTest, StoppingRefusesWhatWaitsAndLetsTheRestEnd) {
  Start({{"s0", {0}}}, [&](const std::string&, const EvalRequest& r) {
    gate_.Pass();
    return SuccessFor(r);
  });
  ASSERT_TRUE(scheduler_->Submit(Job("a", "runs")).ok());
  ASSERT_TRUE(Eventually([&] { return gate_.arrived() == 1; }));
  ASSERT_TRUE(scheduler_->Submit(Job("a", "waits")).ok());
  scheduler_->Stop();
  EXPECT_EQ(Wait("a", "waits").error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(scheduler_->Submit(Job("a", "late")).error().code(), ErrorCode::kUnavailable);
  gate_.Open();
  EXPECT_EQ(Wait("a", "runs")->status, EvalStatus::kSuccess);
}

}  // namespace
}  // namespace touchstone

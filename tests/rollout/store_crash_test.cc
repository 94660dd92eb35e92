// kill -9 of a process that appends: what it was told to be durable is there, and nothing is there twice.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "base/unique_fd.h"
#include "tests/rollout/store_fixture.h"

extern char** environ;

namespace touchstone {
namespace {

constexpr int kKills = 60;
constexpr int kNumbersEach = 1'000'000;

// The appender, and what it says.
class Appender {
 public:
  Appender(const std::string& folder, int first, const char* mode = nullptr) {
    int ends[2];
    TOUCHSTONE_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "pipe2");
    output_ = UniqueFd(ends[0]);
    const UniqueFd in(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
    const std::string number = std::to_string(first);
    const char* const argv[] = {TOUCHSTONE_STORE_APPENDER, folder.c_str(), number.c_str(), mode, nullptr};
    const int error = ::posix_spawn(&pid_, argv[0], &actions, nullptr, const_cast<char* const*>(argv), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    TOUCHSTONE_CHECK(error == 0, "posix_spawn");
  }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  // At least this many bytes of what it says, or all where it ends before.
  void Listen(size_t bytes) {
    while (heard_.size() < bytes && Read()) {
    }
  }

  // Returns all that it said until it was dead. Its own end fails the test.
  std::string Kill() {
    ::kill(pid_, SIGKILL);
    while (Read()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << status;
    return heard_;
  }

 private:
  bool Read() {
    char buffer[4096];
    const ssize_t got = ::read(output_.get(), buffer, sizeof(buffer));
    if (got > 0) heard_.append(buffer, static_cast<size_t>(got));
    return got > 0;
  }
  pid_t pid_ = -1;
  UniqueFd output_;
  std::string heard_;
};

// What was acknowledged, over all lives of the appender.
struct Acknowledged {
  std::set<int> accepted;
  std::set<int> appended;
  std::set<int> opened;

  void Add(const std::string& said) {
    std::istringstream lines(said);
    std::string what;
    int number = 0;
    while (lines >> what >> number) {
      auto& set = what == "accepted" ? accepted : what == "appended" ? appended : opened;
      EXPECT_TRUE(set.insert(number).second) << what << " " << number << " was said twice";
    }
  }
};

std::set<int> StoredRollouts(RolloutStore& store) {
  std::set<int> numbers;
  RolloutFilter filter;
  filter.limit = 1'000'000;
  const auto rows = store.List(filter);
  EXPECT_THAT(rows, Succeeds());
  uint64_t sequence = 0;
  for (const RolloutSummary& row : *rows) {
    EXPECT_EQ(row.sequence, ++sequence);
    EXPECT_TRUE(numbers.insert(std::stoi(row.id.substr(1))).second) << row.id << " is there twice";
  }
  return numbers;
}

void CheckStore(RolloutStore& store, const Acknowledged& acknowledged) {
  const std::set<int> stored = StoredRollouts(store);
  for (int number : acknowledged.appended) ASSERT_TRUE(stored.count(number)) << "rollout " << number << " is lost";
  std::set<int> sessions;
  const auto open = store.OpenSessions();
  ASSERT_THAT(open, Succeeds());
  for (const SessionRecord& session : *open) sessions.insert(std::stoi(session.id.substr(1)));
  for (int number : acknowledged.opened) ASSERT_TRUE(sessions.count(number)) << "session " << number << " is lost";
  // An accepted request is either still pending or has become a rollout.
  std::set<int> pending;
  const auto rows = store.Pending();
  ASSERT_THAT(rows, Succeeds());
  for (const PendingRecord& row : *rows) pending.insert(std::stoi(row.request.request_id.substr(1)));
  for (int number : acknowledged.accepted) {
    ASSERT_NE(stored.count(number), pending.count(number)) << "request " << number;
  }
}

// The control: what is said before it is durable does get lost by such kills, and the check sees it.
TEST(StoreCrashTest, WhatIsAcknowledgedTooEarlyIsLost) {
  const TempFolder folder;
  int lost = 0;
  for (int kill = 0; kill < kKills && lost == 0; ++kill) {
    Acknowledged acknowledged;
    Appender appender(folder.path(), kill * kNumbersEach, "early");
    appender.Listen(2000);
    acknowledged.Add(appender.Kill());
    const auto store = OpenStore(folder.path());
    const std::set<int> stored = StoredRollouts(*store);
    for (int number : acknowledged.appended) lost += stored.count(number) == 0 ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
}

TEST(StoreCrashTest, KilledAtAnyTimeItLosesNothingThatItAcknowledged) {
  const TempFolder folder;
  const std::string path = folder.path() + "/store";
  std::mt19937 random(20260101);
  Acknowledged acknowledged;
  for (int kill = 0; kill < kKills; ++kill) {
    Appender appender(path, kill * kNumbersEach);
    // Before it has opened the store at times, in the midst of appending otherwise.
    if (kill % 8 != 0) appender.Listen(random() % 20'000);
    acknowledged.Add(appender.Kill());
    if (::testing::Test::HasFatalFailure() || !std::filesystem::exists(path + "/rollouts.sqlite")) continue;
    // Opening for writing recovers the log; the same that the appender does in its next life.
    const auto store = RolloutStore::Open(OptionsFor(path));
    ASSERT_THAT(store, Succeeds());
    ASSERT_NO_FATAL_FAILURE(CheckStore(**store, acknowledged)) << "after kill " << kill;
  }
  EXPECT_GT(acknowledged.appended.size(), size_t{kKills * 10}) << "hardly anything was written";
  const auto store = OpenStore(path);
  const auto verified = store->Verify();
  EXPECT_THAT(verified, Succeeds());
}

}  // namespace
}  // namespace touchstone

// Beginnings and ends: nothing that a box starts, and nothing that a box is made of, outlives it.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/channel.h"
#include "sandbox/box/file_util.h"
#include "sandbox/box/owner_name.h"
#include "sandbox/box/uid_range.h"
#include "tests/sandbox/box/box_fixture.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// A field of /proc/PID/status; empty when there is no such process.
std::string StatusField(pid_t pid, const std::string& name) {
  const std::string text = ReadKernelFile("/proc/" + std::to_string(pid) + "/status").value_or("");
  const size_t at = text.find("\n" + name + ":");
  if (at == std::string::npos) return {};
  const size_t from = text.find_first_not_of(" \t", at + name.size() + 2);
  return text.substr(from, text.find('\n', from) - from);
}

// A zombie lives no more.
bool Lives(pid_t pid) {
  const std::string state = StatusField(pid, "State");
  return !state.empty() && state[0] != 'Z';
}

pid_t ParentOf(pid_t pid) { return std::atoi(StatusField(pid, "PPid").c_str()); }

// Folders that spawners have made on this host and that belong to `owner`.
int FoldersOf(pid_t owner) {
  int count = 0;
  std::error_code error;
  const std::string part = "." + std::to_string(owner) + ".";
  for (fs::recursive_directory_iterator at("/sys/fs/cgroup", error), end; at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (IsOwnerName(name) && name.find(part) != std::string::npos) ++count;
  }
  return count;
}

TEST_F(BoxTest, Row01_EndlessForksAreGoneAtOnce) {
  Limits limits;
  limits.processes = 24;
  auto box = spawner_->Start(HostilePolicy(), limits, Attack({"fork-for-ever"}));
  ASSERT_TRUE(box.ok());
  EXPECT_EQ(box->Wait(milliseconds(100)).error().code(), ErrorCode::kDeadline);
  const uid_t uid = box->uid();
  const auto begin = Clock::now();
  ASSERT_TRUE(box->Destroy().ok());
  EXPECT_LT(Clock::now() - begin, seconds(5));
  EXPECT_FALSE(UidInUse(uid));
}

TEST_F(BoxTest, Row07_DeafAndStoppedProgramsDie) {
  for (const char* attack : {"stop-self", "sleep-deaf"}) {
    auto box = spawner_->Start(HostilePolicy(), Limits(), Attack({attack}));
    ASSERT_TRUE(box.ok());
    EXPECT_EQ(box->Wait(milliseconds(20)).error().code(), ErrorCode::kDeadline) << attack;
    box->Kill();
    const auto outcome = box->Wait(seconds(10));
    ASSERT_TRUE(outcome.ok()) << attack;
    EXPECT_EQ(outcome->kind, Outcome::Kind::kKilled);
  }
}

// The control: without a box, asking is not enough.
TEST_F(BoxTest, Row07_ControlADeafProgramSurvivesSigterm) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string program = world_->folder() + "/hostile";
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], 1);
    ::execl(program.c_str(), program.c_str(), "sleep-deaf", nullptr);
    ::_exit(1);
  }
  char text[16];
  ASSERT_GT(::read(ends[0], text, sizeof(text)), 0);
  ASSERT_EQ(::kill(pid, SIGTERM), 0);
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), 0);
  EXPECT_TRUE(Lives(pid));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(BoxTest, Row23_ADaemonIsSeenAndKilled) {
  for (const LayerSet disabled : {LayerSet(), kNamespaces | kGroups, kGroups, kNamespaces}) {
    Policy policy = HostilePolicy(disabled);
    auto box = spawner_->Start(policy, Limits(), Attack({"daemon"}));
    ASSERT_TRUE(box.ok()) << box.error().ToString();
    const uid_t uid = box->uid();
    const auto outcome = box->Wait(seconds(10));
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->code, kSucceeded);
    EXPECT_EQ(outcome->leftover_processes, 1);
    EXPECT_FALSE(UidInUse(uid)) << "seen gone when Wait returns";
  }
  const Ending honest = RunAttack({"am-i-root"});
  EXPECT_EQ(honest.outcome.leftover_processes, 0);
}

TEST_F(BoxTest, Row23_ControlADaemonSurvivesOutside) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string program = world_->folder() + "/hostile";
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], 1);
    ::execl(program.c_str(), program.c_str(), "daemon", nullptr);
    ::_exit(1);
  }
  ::close(ends[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  const pid_t daemon = std::atoi(Drain(ends[0]).c_str());
  ::close(ends[0]);
  ASSERT_GT(daemon, 0);
  EXPECT_TRUE(Lives(daemon));
  ::kill(daemon, SIGKILL);
}

// A spawner of its own, with one box in it.
struct SmallWorld {
  explicit SmallWorld(const Policy& policy, const Program& program) {
    auto launched = Spawner::Launch();
    EXPECT_TRUE(launched.ok());
    spawner.emplace(std::move(launched).value());
    auto started = spawner->Start(policy, Limits(), program);
    EXPECT_TRUE(started.ok()) << started.error().ToString();
    box.emplace(std::move(started).value());
    spawner_pid = ParentOf(box->init_pid());
  }
  std::optional<Spawner> spawner;
  std::optional<Box> box;
  pid_t spawner_pid = 0;
};

TEST_F(BoxTest, Row24_BoxesDieWithTheirSpawner) {
  for (const LayerSet disabled : {LayerSet(), kNamespaces, kNamespaces | kGroups}) {
    SmallWorld world(HostilePolicy(disabled), Attack({"sleep-deaf"}));
    const uid_t uid = world.box->uid();
    ASSERT_TRUE(Lives(world.box->init_pid()));
    ASSERT_EQ(::kill(world.spawner_pid, SIGKILL), 0);
    EXPECT_TRUE(Eventually([&] { return !Lives(world.box->init_pid()) && !UidInUse(uid); }));
    const auto outcome = world.box->Wait(seconds(10));
    ASSERT_TRUE(outcome.ok()) << outcome.error().ToString();
    EXPECT_EQ(outcome->kind, Outcome::Kind::kKilled);
  }
}

TEST_F(BoxTest, Row24_ControlWithoutParentDeathTheySurvive) {
  SmallWorld world(HostilePolicy(Layers({Layer::kParentDeath})), Attack({"sleep-deaf"}));
  ASSERT_EQ(::kill(world.spawner_pid, SIGKILL), 0);
  ASSERT_TRUE(Eventually([&] { return !Lives(world.spawner_pid); }));
  EXPECT_FALSE(Eventually([&] { return !Lives(world.box->init_pid()); }, milliseconds(100)));
  ::kill(world.box->init_pid(), SIGKILL);
  EXPECT_TRUE(Eventually([&] { return !Lives(world.box->init_pid()); }));
}

TEST_F(BoxTest, Row24_TheNextSpawnerSweepsWhatADeadOneLeft) {
  pid_t dead = 0;
  {
    SmallWorld world(HostilePolicy(), Attack({"sleep-deaf"}));
    dead = world.spawner_pid;
    ASSERT_GT(FoldersOf(dead), 0);
    ASSERT_EQ(::kill(dead, SIGKILL), 0);
    ASSERT_TRUE(Eventually([&] { return !Lives(dead) && !Lives(world.box->init_pid()); }));
    EXPECT_GT(FoldersOf(dead), 0) << "the control: nobody else removes them";
  }
  const auto next = Spawner::Launch();
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(FoldersOf(dead), 0);
}

// The same host without its v2 mount: the freezer of v1, in which even SIGKILL has to wait for the thaw.
TEST_F(BoxTest, Row24_HostsWithV1AloneFreezeKillAndSweepToo) {
  if (!fs::exists("/sys/fs/cgroup/freezer")) GTEST_SKIP() << "this host has no v1 freezer";
  auto channel = ChannelPair();
  ASSERT_TRUE(channel.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto say = [&](const std::string& text) {
      (void)Send(channel->second.get(), text);
      ::_exit(0);
    };
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::umount2("/sys/fs/cgroup/unified", MNT_DETACH) != 0) {
      say("hiding v2 failed");
    }
    pid_t dead = 0;
    {
      SmallWorld world(HostilePolicy(), Attack({"sleep-deaf"}));
      if (!world.box->Freeze().ok() || !world.box->Thaw().ok() || !world.box->Freeze().ok()) say("freezing failed");
      if (!world.box->Destroy().ok()) say("a frozen box did not die");
      auto other = world.spawner->Start(HostilePolicy(), Limits(), Attack({"sleep-deaf"}));
      if (!other.ok() || !other->Freeze().ok()) say("freezing another failed");
      dead = world.spawner_pid;
      ::kill(dead, SIGKILL);
      if (!Eventually([&] { return !Lives(dead); })) say("the spawner lives");
      const auto next = Spawner::Launch();
      if (!Eventually([&] { return !Lives(other->init_pid()); })) say("a frozen box was not swept");
    }
    say(FoldersOf(dead) == 0 ? "fine" : "folders are left");
  }
  const auto message = Receive(channel->first.get(), seconds(60));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->bytes, "fine");
}

TEST_F(BoxTest, TheSpawnerDiesWithItsStarterAndLeavesNothing) {
  auto channel = ChannelPair();
  ASSERT_TRUE(channel.ok());
  const pid_t starter = ::fork();
  if (starter == 0) {
    auto spawner = Spawner::Launch();
    auto box = spawner->Start(HostilePolicy(), Limits(), Attack({"sleep-deaf"}));
    const pid_t pids[] = {box->init_pid(), ParentOf(box->init_pid())};
    (void)Send(channel->second.get(), std::string(reinterpret_cast<const char*>(pids), sizeof(pids)));
    ::pause();
  }
  const auto message = Receive(channel->first.get(), seconds(20));
  ASSERT_TRUE(message.ok());
  pid_t pids[2];
  ASSERT_EQ(message->bytes.size(), sizeof(pids));
  std::copy_n(message->bytes.data(), sizeof(pids), reinterpret_cast<char*>(pids));
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  EXPECT_TRUE(Eventually([&] { return !Lives(pids[0]) && !Lives(pids[1]); }));
  EXPECT_EQ(FoldersOf(pids[1]), 0);
}

TEST_F(BoxTest, TheSpawnerEndsWithItsLastConnection) {
  pid_t pid = 0;
  {
    SmallWorld world(HostilePolicy(), Attack({"sleep-deaf"}));
    pid = world.spawner_pid;
  }
  EXPECT_TRUE(Eventually([&] { return !Lives(pid); }));
  EXPECT_EQ(FoldersOf(pid), 0);
}

TEST_F(BoxTest, ABoxDiesWithItsHolder) {
  auto box = spawner_->Start(HostilePolicy(), Limits(), Attack({"sleep-deaf"}));
  ASSERT_TRUE(box.ok());
  const pid_t init = box->init_pid();
  const uid_t uid = box->uid();
  { const Box gone = std::move(box).value(); }
  EXPECT_FALSE(Lives(init));
  EXPECT_FALSE(UidInUse(uid));
}

TEST_F(BoxTest, Row25_TheSpawnerHasOneThread) {
  auto box = spawner_->Start(HostilePolicy(), Limits(), Attack({"sleep-deaf"}));
  ASSERT_TRUE(box.ok());
  EXPECT_EQ(StatusField(ParentOf(box->init_pid()), "Threads"), "1");
}

TEST_F(BoxTest, LivingBoxesHaveUidsOfTheirOwn) {
  SmallWorld other(HostilePolicy(), Attack({"sleep-deaf"}));
  std::vector<Box> boxes;
  std::vector<uid_t> uids = {other.box->uid()};
  for (int i = 0; i < 6; ++i) {
    auto box = spawner_->Start(HostilePolicy(), Limits(), Attack({"sleep-deaf"}));
    ASSERT_TRUE(box.ok());
    uids.push_back(box->uid());
    boxes.push_back(std::move(box).value());
  }
  std::sort(uids.begin(), uids.end());
  EXPECT_EQ(std::unique(uids.begin(), uids.end()), uids.end());
  for (const uid_t uid : uids) EXPECT_GE(uid, kFirstBoxUid);
}

TEST_F(BoxTest, AUidThatSomebodyElseUsesIsNotTaken) {
  const std::string lock = world_->folder() + "/lock";
  auto range = UidRange::Open(lock);
  ASSERT_TRUE(range.ok());
  const auto first = (*range)->Take();
  ASSERT_TRUE(first.ok());
  auto other = UidRange::Open(lock);
  ASSERT_TRUE(other.ok());
  const auto second = (*other)->Take();
  ASSERT_TRUE(second.ok());
  EXPECT_NE(*first, *second);
  const uid_t squatted = *second + 2;
  const pid_t squatter = ::fork();
  if (squatter == 0) {
    if (::setresuid(squatted, squatted, squatted) != 0) ::_exit(1);
    while (true) ::pause();
  }
  ASSERT_TRUE(Eventually([&] { return UidInUse(squatted); }));
  const auto third = (*other)->Take();
  ASSERT_TRUE(third.ok());
  EXPECT_GT(*third, squatted);
  ::kill(squatter, SIGKILL);
  ::waitpid(squatter, nullptr, 0);
}

// Uids of its own: those from kFirstBoxUid on may belong to the boxes of another spawner, which this lock file does not
// know of, and a range of two would then have none to give.
TEST_F(BoxTest, UidsRunOutAndComeBack) {
  auto range = UidRange::Open(world_->folder() + "/lock", 2, kFirstBoxUid + 2 * kBoxSlots);
  ASSERT_TRUE(range.ok());
  const auto first = (*range)->Take();
  const auto second = (*range)->Take();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*range)->Take().error().code(), ErrorCode::kExhausted);
  (*range)->GiveBack(*first);
  EXPECT_EQ((*range)->Take().value(), *first);
}

}  // namespace
}  // namespace touchstone

#include "sandbox/box/box.h"

#include <poll.h>
#include <signal.h>

#include "base/memfd.h"
#include "tests/sandbox/box/box_fixture.h"

namespace touchstone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(BoxTest, RunsAProgramAndReportsItsExitCodeAndOutput) {
  auto box = spawner_->Start(ShellPolicy(), Limits(), Shell("echo out; echo err >&2; exit 7"));
  ASSERT_TRUE(box.ok()) << box.error().ToString();
  EXPECT_EQ(Drain(box->stdout_fd()), "out\n");
  EXPECT_EQ(Drain(box->stderr_fd()), "err\n");
  const auto outcome = box->Wait(seconds(10));
  ASSERT_TRUE(outcome.ok()) << outcome.error().ToString();
  EXPECT_EQ(outcome->kind, Outcome::Kind::kExited);
  EXPECT_EQ(outcome->code, 7);
  EXPECT_EQ(outcome->leftover_processes, 0);
  EXPECT_FALSE(outcome->out_of_memory);
  EXPECT_GT(outcome->cpu_time_us, 0U);
  EXPECT_GT(outcome->peak_memory_bytes, 0U);
  EXPECT_EQ(LevelReached(box->layers()), Level::kFull);
}

TEST_F(BoxTest, ReportsTheSignalThatEndedTheProgram) {
  auto box = spawner_->Start(ShellPolicy(), Limits(), Shell("kill -ABRT $$"));
  ASSERT_TRUE(box.ok()) << box.error().ToString();
  const auto outcome = box->Wait(seconds(10));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->kind, Outcome::Kind::kSignalled);
  EXPECT_EQ(outcome->signal, SIGABRT);
  EXPECT_EQ(outcome->ToString(), "ended by signal ABRT");
}

TEST_F(BoxTest, WaitHasADeadlineAndTheBoxLivesOn) {
  auto box = spawner_->Start(ShellPolicy(), Limits(), Shell("read x < /dev/zero"));
  ASSERT_TRUE(box.ok());
  EXPECT_FALSE(box->Ended());
  EXPECT_EQ(box->Wait(milliseconds(1)).error().code(), ErrorCode::kDeadline);
  EXPECT_FALSE(box->Ended());
  box->Kill();
  const auto outcome = box->Wait(seconds(10));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->kind, Outcome::Kind::kKilled);
  EXPECT_TRUE(box->Ended());
}

TEST_F(BoxTest, DescriptorsArriveInOrder) {
  const auto first = CreateSealedMemfd("first", "1");
  const auto second = CreateSealedMemfd("second", "2");
  ASSERT_TRUE(first.ok() && second.ok());
  const int fds[] = {first->get(), second->get()};
  Policy policy = ShellPolicy();
  auto box = spawner_->Start(policy, Limits(), Shell("cat /dev/fd/3; cat /dev/fd/4; ls /proc/self/fd"), fds);
  ASSERT_TRUE(box.ok()) << box.error().ToString();
  // 5 is ls's own, of the folder that it reads.
  EXPECT_EQ(Drain(box->stdout_fd()), "120\n1\n2\n3\n4\n5\n");
}

// Which numbers are free when a box is built depends on its layers: none of them may matter.
TEST_F(BoxTest, DescriptorsArriveWhateverLayersAreLeftOut) {
  const auto content = CreateSealedMemfd("content", "x");
  ASSERT_TRUE(content.ok());
  const std::vector<int> fds(12, content->get());
  for (const Layer left_out : {Layer::kFreezer, Layer::kSeccomp, Layer::kMemoryCgroup, Layer::kPidsCgroup}) {
    Policy policy = ShellPolicy();
    policy.disable_for_tests = Layers({left_out});
    policy.minimum_level = Level::kNone;
    for (size_t count = 0; count <= fds.size(); ++count) {
      auto box = spawner_->Start(policy, Limits(), Shell("echo ok"), std::span(fds).first(count));
      ASSERT_TRUE(box.ok()) << ToString(left_out) << " " << count << ": " << box.error().ToString();
      EXPECT_EQ(Drain(box->stdout_fd()), "ok\n");
    }
  }
}

TEST_F(BoxTest, AFrozenBoxDoesNothingAndAThawedOneGoesOn) {
  auto box = spawner_->Start(ShellPolicy(), Limits(), Shell("while :; do echo; done"));
  ASSERT_TRUE(box.ok());
  char part[4096];
  for (int round = 0; round < 20; ++round) {
    ASSERT_GT(::read(box->stdout_fd(), part, sizeof(part)), 0);
    ASSERT_TRUE(box->Freeze().ok());
    const auto before = box->CpuTime();
    pollfd poller{box->stdout_fd(), POLLIN, 0};
    while (::poll(&poller, 1, 0) > 0) ASSERT_GT(::read(box->stdout_fd(), part, sizeof(part)), 0);
    EXPECT_EQ(::poll(&poller, 1, 5), 0) << "something was written by a frozen box";
    // A process counts as frozen when it has entered the kernel to stop; its last microseconds are booked a little
    // later.
    EXPECT_LT(*box->CpuTime() - *before, std::chrono::microseconds(500));
    ASSERT_TRUE(box->Thaw().ok());
  }
  ASSERT_TRUE(box->Freeze().ok());
  EXPECT_TRUE(box->Destroy().ok()) << "a frozen box must die too";
}

TEST_F(BoxTest, ArtifactsLeaveAsSealedCopies) {
  auto box = spawner_->Start(ShellPolicy(), Limits(),
                             Shell("mkdir d; printf content > d/a; ln d/a hard; mkfifo fifo;"
                                   "ln -s d/a soft; ln -s d folder; printf b > b"));
  ASSERT_TRUE(box.ok());
  ASSERT_TRUE(box->Wait(seconds(10)).ok());
  const auto artifact = box->TakeArtifact("b", 10);
  ASSERT_TRUE(artifact.ok()) << artifact.error().ToString();
  EXPECT_EQ(ReadAll(artifact->get(), 10).value(), "b");
  EXPECT_LT(::write(artifact->get(), "x", 1), 0);
  EXPECT_EQ(box->TakeArtifact("none", 10).error().code(), ErrorCode::kNotFound);
  for (const char* name : {"soft", "folder/a", "hard", "d/a", "fifo", "d", "../tmp/b", "/tmp/b"}) {
    EXPECT_EQ(box->TakeArtifact(name, 10).error().code(), ErrorCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(box->TakeArtifact("b", 0).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(BoxTest, ABadRequestNamesWhatIsWrong) {
  Program program;
  program.argv = {"/no/such/program"};
  const auto box = spawner_->Start(SystemPolicy(), Limits(), program);
  ASSERT_FALSE(box.ok());
  EXPECT_EQ(box.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(box.error().message().find("argv[0]"), std::string::npos) << box.error().message();
  Policy policy = SystemPolicy();
  policy.binds.push_back({"/no/such/folder", "", false});
  program.argv = {"/bin/true"};
  const auto other = spawner_->Start(policy, Limits(), program);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(other.error().message().find("/no/such/folder"), std::string::npos) << other.error().message();
  policy.binds.back().optional = true;
  EXPECT_TRUE(spawner_->Start(policy, Limits(), program).ok());
}

TEST_F(BoxTest, AnotherConnectionServesToo) {
  auto connection = spawner_->NewConnection();
  ASSERT_TRUE(connection.ok());
  Spawner other = Spawner::Adopt(std::move(connection).value());
  auto a = other.Start(ShellPolicy(), Limits(), Shell("exit 1"));
  auto b = spawner_->Start(ShellPolicy(), Limits(), Shell("exit 2"));
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(a->uid(), b->uid());
  EXPECT_EQ(a->Wait(seconds(10))->code, 1);
  EXPECT_EQ(b->Wait(seconds(10))->code, 2);
}

}  // namespace
}  // namespace touchstone

// What boxes may use, and what is counted.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstring>

#include "base/memfd.h"
#include "tests/sandbox/box/box_fixture.h"

namespace touchstone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(BoxTest, Row03_OutOfMemoryIsSaid) {
  Limits limits;
  limits.memory_bytes = uint64_t{32} << 20;
  const Ending bomb = RunAttack({"memory", "64"}, LayerSet(), limits);
  EXPECT_EQ(bomb.outcome.kind, Outcome::Kind::kSignalled);
  EXPECT_EQ(bomb.outcome.signal, SIGKILL);
  EXPECT_TRUE(bomb.outcome.out_of_memory);
  EXPECT_LE(bomb.outcome.peak_memory_bytes, limits.memory_bytes);
  const Ending honest = RunAttack({"memory", "16"}, LayerSet(), limits);
  EXPECT_EQ(honest.outcome.code, kSucceeded);
  EXPECT_FALSE(honest.outcome.out_of_memory);
  EXPECT_GT(honest.outcome.peak_memory_bytes, uint64_t{16} << 20);
}

// Memory belongs to whoever touches it first: buffers of ours are touched before a box gets them.
TEST_F(BoxTest, Row05_TouchedMemoryIsOurs) {
  constexpr size_t kBytes = size_t{64} << 20;
  Limits limits;
  limits.memory_bytes = uint64_t{32} << 20;
  for (const bool touched : {true, false}) {
    const auto memory = CreateMemfd("block", kBytes);
    ASSERT_TRUE(memory.ok());
    auto mapping = Mapping::Map(memory->get(), kBytes, Mapping::Access::kReadWrite);
    ASSERT_TRUE(mapping.ok());
    if (touched) std::memset(mapping->data(), 1, kBytes);
    const int fd = memory->get();
    const Ending ending = Run(HostilePolicy(), limits, Attack({"touch-passed", "64"}), std::span<const int>(&fd, 1));
    EXPECT_EQ(ending.outcome.out_of_memory, !touched);
    EXPECT_EQ(ending.outcome.kind, touched ? Outcome::Kind::kExited : Outcome::Kind::kSignalled);
  }
}

TEST_F(BoxTest, Row08_CpuTimeOfChildrenIsCounted) {
  Limits limits;
  limits.cpu_time = seconds(1);
  const Ending ending = RunAttack({"burn-cpu-in-children", "4", "150"}, LayerSet(), limits);
  EXPECT_EQ(ending.outcome.code, kSucceeded) << "RLIMIT_CPU is for each process";
  EXPECT_GE(ending.outcome.cpu_time_us, 600'000U);
  // On v2 any group counts CPU time, so the control has none at all.
  const Ending control = RunAttack(
      {"burn-cpu-in-children", "1", "50"},
      Layers({Layer::kCpuAccounting, Layer::kFreezer, Layer::kMemoryCgroup, Layer::kPidsCgroup, Layer::kCpuSet}),
      limits);
  EXPECT_EQ(control.outcome.cpu_time_us, 0U);
}

TEST_F(BoxTest, Row15_ABoxStaysOnItsCores) {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "this machine has one core";
  Limits limits;
  limits.cpus = {0};
  const Ending ending = RunAttack({"move-to", "1"}, LayerSet(), limits);
  EXPECT_EQ(ending.outcome.code, kStopped) << ending.output;
  EXPECT_EQ(RunAttack({"move-to", "0"}, Layers({Layer::kSeccomp}), limits).outcome.code, kSucceeded);
  EXPECT_EQ(RunAttack({"move-to", "1"}, Layers({Layer::kSeccomp}), limits).outcome.code, kStopped) << "cpuset alone";
  EXPECT_EQ(RunAttack({"move-to", "1"}, Layers({Layer::kCpuSet}), limits).outcome.code, kStopped) << "filter alone";
  EXPECT_EQ(RunAttack({"move-to", "1"}, Layers({Layer::kSeccomp, Layer::kCpuSet}), limits).outcome.code, kSucceeded);
}

TEST_F(BoxTest, Row26_AFloodEndsWhenItsReaderHasEnough) {
  auto box = spawner_->Start(HostilePolicy(), Limits(), Attack({"flood"}));
  ASSERT_TRUE(box.ok());
  EXPECT_GE(Drain(box->stdout_fd(), 64 << 10).size(), size_t{64} << 10);
  EXPECT_FALSE(box->Ended()) << "the control: it would go on";
  EXPECT_TRUE(box->Destroy().ok());
}

TEST_F(BoxTest, Row27_DevShmHasItsOwnLimits) {
  Limits limits;
  limits.tmp_bytes = uint64_t{2} << 20;
  EXPECT_EQ(RunAttack({"big-file", "/dev/shm/x", "4"}, LayerSet(), limits).outcome.code, kStopped);
  EXPECT_EQ(RunAttack({"big-file", "/dev/shm/x", "1"}, LayerSet(), limits).outcome.code, kSucceeded);
}

// A sparse file costs nothing inside and everything outside: its size is looked at, not its blocks.
TEST_F(BoxTest, Row27_AHugeSparseArtifactIsRefused) {
  auto box = spawner_->Start(HostilePolicy(Layers({Layer::kResourceLimits})), Limits(), Attack({"sparse-file", "x"}));
  ASSERT_TRUE(box.ok());
  ASSERT_EQ(box->Wait(seconds(10))->code, kSucceeded) << "the control: nothing stops it from being made";
  const auto artifact = box->TakeArtifact("x", uint64_t{1} << 20);
  ASSERT_FALSE(artifact.ok());
  EXPECT_EQ(artifact.error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(BoxTest, Row34_PassedMemoryCannotBeCutShort) {
  const auto sealed = CreateMemfd("sealed", 4096);
  const UniqueFd plain(::memfd_create("plain", MFD_CLOEXEC));
  ASSERT_TRUE(sealed.ok() && plain.valid());
  const int good = sealed->get();
  const int bad = plain.get();
  EXPECT_EQ(Run(HostilePolicy(), Limits(), Attack({"truncate-passed"}), std::span<const int>(&good, 1)).outcome.code,
            kStopped);
  EXPECT_EQ(Run(HostilePolicy(), Limits(), Attack({"truncate-passed"}), std::span<const int>(&bad, 1)).outcome.code,
            kSucceeded);
}

}  // namespace
}  // namespace touchstone

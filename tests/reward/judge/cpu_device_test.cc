#include "reward/judge/cpu/cpu_device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <numeric>

#include "reward/judge/cpu/workers.h"

namespace touchstone {
namespace {

std::vector<int> AllCores() {
  std::vector<int> cpus(static_cast<size_t>(std::max(2L, ::sysconf(_SC_NPROCESSORS_ONLN))));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

InputStream Normal(uint64_t count, uint64_t call) {
  InputStream stream;
  stream.key = DeriveStreamKey(SecretKey{5}, StreamPurpose::kInput, call, 0);
  stream.count = count;
  return stream;
}

std::vector<std::byte> Read(CpuDevice& device, const DeviceBlock& block, Region region) {
  std::vector<std::byte> bytes(region.bytes);
  EXPECT_TRUE(device.ReadTiles(block, std::span(&region, 1), bytes).ok());
  return bytes;
}

Status Fill(CpuDevice& device, DeviceBlock& block, uint64_t offset, const InputStream& stream) {
  return device.Fill(block, std::vector<Filling>{{offset, &stream}}, {});
}

Status Poison(CpuDevice& device, DeviceBlock& block, Region region, const StreamKey& key) {
  return device.Fill(block, {}, std::vector<Poisoning>{{region, key}});
}

uint64_t Poisoned(CpuDevice& device, const DeviceBlock& block, Region region, const StreamKey& key) {
  return device.CountPoison(block, std::vector<Poisoning>{{region, key}})->at(0);
}

TEST(WorkersTest, EveryIndexIsDoneOnceHoweverOftenTheyAreCalled) {
  Workers workers(AllCores());
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> done(static_cast<size_t>(round % 37));
    workers.ForEach(done.size(), [&](size_t i) { ++done[i]; });
    if (round % 3 == 0) workers.AwaitSleep();
    for (const auto& count : done) ASSERT_EQ(count.load(), 1);
  }
}

// CPU time of all threads of this process but the calling one.
int64_t OthersCpuNs() {
  timespec all{}, own{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
  return (all.tv_sec - own.tv_sec) * 1'000'000'000LL + (all.tv_nsec - own.tv_nsec);
}

// A helper that is still on its way to sleep would run beside a timed side.
TEST(WorkersTest, NothingOfThemRunsOnceTheySleep) {
  Workers workers(AllCores());
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> done = 0;
    workers.ForEach(64, [&](size_t) {
      for (int i = 0; i < 20'000; ++i) ++done;
    });
    workers.AwaitSleep();
    const int64_t before = OthersCpuNs();
    for (int i = 0; i < 20'000; ++i) ++done;
    // The two clocks are not read at the same moment, so the caller's own time between them is in it, never a helper's.
    ASSERT_LT(OthersCpuNs() - before, 50'000);
  }
}

TEST(CpuDeviceTest, FillsTheSameOnOneCoreAndOnAll) {
  CpuDevice alone;
  CpuDevice together(AllCores());
  const InputStream large = Normal(1'000'003, 1), small = Normal(77, 2);
  InputStream rows = Normal(999 * 300, 3);
  rows.distribution.family = Distribution::Family::kPermutation;
  rows.row_length = 999;
  const size_t bytes = 6 << 20;
  auto a = alone.AllocateShared(bytes);
  auto b = together.AllocateShared(bytes);
  ASSERT_TRUE(a.ok() && b.ok());
  const std::vector<Filling> fillings{{0, &large}, {4'100'000, &small}, {4'200'000, &rows}};
  const std::vector<Poisoning> poisonings{{{5'500'001, 700'003}, StreamKey{1}}, {{4'150'000, 5}, StreamKey{2}}};
  ASSERT_TRUE(alone.Fill(**a, fillings, poisonings).ok());
  ASSERT_TRUE(together.Fill(**b, fillings, poisonings).ok());
  EXPECT_EQ(Read(alone, **a, {0, bytes}), Read(together, **b, {0, bytes}));
  std::vector<float> expected(large.count);
  Generate(large, 0, large.count, expected.data());
  EXPECT_EQ(std::memcmp(Read(together, **b, {0, 4 * large.count}).data(), expected.data(), 4 * large.count), 0);
  // A second block gets the same from what was kept.
  auto c = together.AllocateShared(bytes);
  ASSERT_TRUE(c.ok());
  ASSERT_TRUE(together.Fill(**c, fillings, poisonings).ok());
  EXPECT_EQ(Read(together, **c, {0, bytes}), Read(together, **b, {0, bytes}));
}

TEST(CpuDeviceTest, CountsEachChangedElementAfterForgettingToo) {
  CpuDevice device(AllCores());
  const InputStream stream = Normal(900'000, 2), other = Normal(100, 3);
  auto block = device.AllocateShared(4 * (stream.count + other.count));
  ASSERT_TRUE(block.ok());
  const std::vector<Filling> fillings{{4 * stream.count, &other}, {0, &stream}};
  ASSERT_TRUE(device.Fill(**block, fillings, {}).ok());
  EXPECT_EQ(*device.CountChanged(**block, fillings), (std::vector<uint64_t>{0, 0}));
  device.Forget();
  EXPECT_EQ(*device.CountChanged(**block, fillings), (std::vector<uint64_t>{0, 0}));
  // Overwrite three elements with poison, one of them at a piece's border.
  for (const uint64_t element : {0ULL, 65'536ULL, 899'999ULL}) {
    ASSERT_TRUE(Poison(device, **block, {4 * element, 4}, StreamKey{1, 2, 3, 4}).ok());
  }
  EXPECT_EQ(*device.CountChanged(**block, fillings), (std::vector<uint64_t>{0, 3}));
}

TEST(CpuDeviceTest, PoisonIsRecognisedUntilItIsOverwritten) {
  CpuDevice device(AllCores());
  auto block = device.AllocateShared(1 << 20);
  ASSERT_TRUE(block.ok());
  const StreamKey key{9, 8, 7, 6};
  const Region region{100, 700'001};
  ASSERT_TRUE(Poison(device, **block, region, key).ok());
  EXPECT_EQ(Poisoned(device, **block, region, key), region.bytes);
  EXPECT_LT(Poisoned(device, **block, region, StreamKey{1}), region.bytes / 100);
  ASSERT_TRUE(Poison(device, **block, {5'000, 1'000}, StreamKey{1}).ok());
  EXPECT_NEAR(static_cast<double>(Poisoned(device, **block, region, key)), 699'001.0, 40);
}

// The comparison is made in pieces; what it reports is what one pass over the whole reports.
TEST(CpuDeviceTest, ComparesInPiecesAsInOne) {
  CpuDevice device(AllCores());
  const uint64_t count = 800'000;
  auto actual = device.AllocatePrivate(4 * count);
  auto expected = device.AllocatePrivate(4 * count);
  ASSERT_TRUE(actual.ok() && expected.ok());
  ASSERT_TRUE(Fill(device, **actual, 0, Normal(count, 3)).ok());
  ASSERT_TRUE(Fill(device, **expected, 0, Normal(count, 3)).ok());
  ASSERT_TRUE(Fill(device, **expected, 4 * 250'000, Normal(1'000, 4)).ok());
  const Tolerance tolerance{1e-6, 0, 0.01};
  const ArrayPair pair{actual->get(), 0, DType::kFloat32, expected->get(), 0, DType::kFloat32, count, tolerance};
  const ArrayPair start{actual->get(), 0, DType::kFloat32, expected->get(), 0, DType::kFloat32, 1000, tolerance};
  const auto reports = device.CompareArrays(std::vector<ArrayPair>{start, pair, start});
  ASSERT_TRUE(reports.ok());
  EXPECT_TRUE(reports->at(0).passed());
  EXPECT_EQ(reports->at(2).count, 1000u);
  const CompareReport* pieces = &reports->at(1);
  const auto a = Read(device, **actual, {0, 4 * count});
  const auto b = Read(device, **expected, {0, 4 * count});
  const CompareReport whole = Compare(DType::kFloat32, a.data(), DType::kFloat32, b.data(), count, tolerance);
  EXPECT_EQ(pieces->count, whole.count);
  EXPECT_EQ(pieces->mismatches, whole.mismatches);
  EXPECT_GT(whole.mismatches, 900u);
  EXPECT_EQ(pieces->first_mismatch, whole.first_mismatch);
  EXPECT_EQ(pieces->max_abs, whole.max_abs);
  EXPECT_EQ(pieces->max_rel, whole.max_rel);
  EXPECT_NEAR(pieces->rms_error, whole.rms_error, 1e-9 * whole.rms_error);
  EXPECT_NEAR(pieces->rms_expected, whole.rms_expected, 1e-9 * whole.rms_expected);
  EXPECT_EQ(pieces->rms_exceeded, whole.rms_exceeded);
  EXPECT_TRUE(whole.rms_exceeded);
}

TEST(CpuDeviceTest, RegionsOutsideABlockAreRefused) {
  CpuDevice device;
  auto block = device.AllocateShared(4096);
  ASSERT_TRUE(block.ok());
  EXPECT_FALSE(Fill(device, **block, 4090, Normal(100, 5)).ok());
  EXPECT_FALSE(Poison(device, **block, {4000, 97}, StreamKey{}).ok());
  EXPECT_FALSE(device.CountPoison(**block, std::vector<Poisoning>{{{uint64_t(-1), 2}, {}}}).ok());
  const Region tile{4096, 1};
  std::byte byte{};
  EXPECT_FALSE(device.ReadTiles(**block, std::span(&tile, 1), std::span(&byte, 1)).ok());
}

TEST(CpuDeviceTest, GathersAStridedArrayDensely) {
  CpuDevice device;
  auto from = device.AllocateShared(4096);
  auto to = device.AllocatePrivate(4096);
  ASSERT_TRUE(from.ok() && to.ok());
  ASSERT_TRUE(Fill(device, **from, 0, Normal(24, 6)).ok());
  const StridedArray transposed{0, DType::kFloat32, {6, 4}, {1, 6}};  // of a dense 4 × 6
  ASSERT_TRUE(device.Gather(**from, transposed, **to, 0).ok());
  float source[24];
  float gathered[24];
  std::memcpy(source, Read(device, **from, {0, 96}).data(), 96);
  std::memcpy(gathered, Read(device, **to, {0, 96}).data(), 96);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 4; ++j) EXPECT_EQ(gathered[4 * i + j], source[6 * j + i]);
  }
}

}  // namespace
}  // namespace touchstone

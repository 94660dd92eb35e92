#include "reward/judge/cpu/cpu_device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
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

TEST(WorkersTest, EveryIndexIsDoneOnceHoweverOftenTheyAreCalled) {
  Workers workers(AllCores());
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> done(static_cast<size_t>(round % 37));
    workers.ForEach(done.size(), [&](size_t i) { ++done[i]; });
    for (const auto& count : done) ASSERT_EQ(count.load(), 1);
  }
}

TEST(CpuDeviceTest, FillsTheSameOnOneCoreAndOnAll) {
  CpuDevice alone;
  CpuDevice together(AllCores());
  const InputStream stream = Normal(1'000'003, 1);
  auto a = alone.AllocateShared(4 * stream.count);
  auto b = together.AllocateShared(4 * stream.count);
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_TRUE(alone.Fill(**a, 0, stream).ok());
  ASSERT_TRUE(together.Fill(**b, 0, stream).ok());
  const Region all{0, 4 * stream.count};
  EXPECT_EQ(Read(alone, **a, all), Read(together, **b, all));
}

TEST(CpuDeviceTest, CountsEachChangedElementAfterForgettingToo) {
  CpuDevice device(AllCores());
  const InputStream stream = Normal(900'000, 2);
  auto block = device.AllocateShared(4 * stream.count);
  ASSERT_TRUE(block.ok());
  ASSERT_TRUE(device.Fill(**block, 0, stream).ok());
  EXPECT_EQ(*device.CountChanged(**block, 0, stream), 0u);
  device.Forget();
  EXPECT_EQ(*device.CountChanged(**block, 0, stream), 0u);
  // Overwrite three elements with poison, one of them at a piece's border.
  for (const uint64_t element : {0ULL, 65'536ULL, 899'999ULL}) {
    ASSERT_TRUE(device.Poison(**block, {4 * element, 4}, StreamKey{1, 2, 3, 4}).ok());
  }
  EXPECT_EQ(*device.CountChanged(**block, 0, stream), 3u);
}

TEST(CpuDeviceTest, PoisonIsRecognisedUntilItIsOverwritten) {
  CpuDevice device(AllCores());
  auto block = device.AllocateShared(1 << 20);
  ASSERT_TRUE(block.ok());
  const StreamKey key{9, 8, 7, 6};
  const Region region{100, 700'001};
  ASSERT_TRUE(device.Poison(**block, region, key).ok());
  EXPECT_EQ(*device.CountPoison(**block, region, key), region.bytes);
  EXPECT_LT(*device.CountPoison(**block, region, StreamKey{1}), region.bytes / 100);
  ASSERT_TRUE(device.Poison(**block, {5'000, 1'000}, StreamKey{1}).ok());
  EXPECT_NEAR(static_cast<double>(*device.CountPoison(**block, region, key)), 699'001.0, 40);
}

// The comparison is made in pieces; what it reports is what one pass over the whole reports.
TEST(CpuDeviceTest, ComparesInPiecesAsInOne) {
  CpuDevice device(AllCores());
  const uint64_t count = 800'000;
  auto actual = device.AllocatePrivate(4 * count);
  auto expected = device.AllocatePrivate(4 * count);
  ASSERT_TRUE(actual.ok() && expected.ok());
  ASSERT_TRUE(device.Fill(**actual, 0, Normal(count, 3)).ok());
  ASSERT_TRUE(device.Fill(**expected, 0, Normal(count, 3)).ok());
  ASSERT_TRUE(device.Fill(**expected, 4 * 250'000, Normal(1'000, 4)).ok());
  const Tolerance tolerance{1e-6, 0, 0.01};
  auto pieces = device.CompareArrays(**actual, 0, DType::kFloat32, **expected, 0, DType::kFloat32, count, tolerance);
  ASSERT_TRUE(pieces.ok());
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
  EXPECT_FALSE(device.Fill(**block, 4090, Normal(100, 5)).ok());
  EXPECT_FALSE(device.Poison(**block, {4000, 97}, StreamKey{}).ok());
  EXPECT_FALSE(device.CountPoison(**block, {uint64_t(-1), 2}, StreamKey{}).ok());
  const Region tile{4096, 1};
  std::byte byte{};
  EXPECT_FALSE(device.ReadTiles(**block, std::span(&tile, 1), std::span(&byte, 1)).ok());
}

TEST(CpuDeviceTest, GathersAStridedArrayDensely) {
  CpuDevice device;
  auto from = device.AllocateShared(4096);
  auto to = device.AllocatePrivate(4096);
  ASSERT_TRUE(from.ok() && to.ok());
  ASSERT_TRUE(device.Fill(**from, 0, Normal(24, 6)).ok());
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

#include "sandbox/runner/torch/arena_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <utility>

namespace touchstone {
namespace {

constexpr size_t kBytes = 64 * 1024;

class ArenaAllocatorTest : public ::testing::Test {
 protected:
  ArenaAllocatorTest() : memory_(static_cast<std::byte*>(std::aligned_alloc(4096, kBytes))) {
    EXPECT_TRUE(arena_.Open(memory_, kBytes));
  }
  ~ArenaAllocatorTest() override {
    arena_.Close();
    std::free(memory_);
  }

  ArenaAllocator& arena_ = ArenaAllocator::Instance();
  std::byte* memory_;
};

TEST_F(ArenaAllocatorTest, GivesAlignedMemoryOfTheArenaInOrder) {
  const auto first = arena_.allocate(1);
  const auto second = arena_.allocate(100);
  const auto third = arena_.allocate(64);
  EXPECT_EQ(first.get(), memory_);
  EXPECT_EQ(second.get(), memory_ + 64);
  EXPECT_EQ(third.get(), memory_ + 192);
  EXPECT_EQ(arena_.allocate(0).get(), nullptr);
}

TEST_F(ArenaAllocatorTest, UsesFreedPiecesAgainAndMergesThem) {
  auto first = arena_.allocate(64);
  auto second = arena_.allocate(64);
  auto third = arena_.allocate(64);
  const auto guard = arena_.allocate(64);
  // In an order that merges with the piece before, with the one behind, and with both.
  first.clear();
  third.clear();
  second.clear();
  EXPECT_EQ(arena_.allocate(192).get(), memory_);
}

TEST_F(ArenaAllocatorTest, FallsBackToTheHeapWhenFull) {
  const auto most = arena_.allocate(kBytes - 64);
  const auto elsewhere = arena_.allocate(128);
  const auto rest = arena_.allocate(64);
  EXPECT_TRUE(arena_.Contains(most.get()));
  EXPECT_FALSE(arena_.Contains(elsewhere.get()));
  EXPECT_TRUE(arena_.Contains(rest.get()));
  std::memset(elsewhere.get(), 0, 128);
}

TEST_F(ArenaAllocatorTest, ClosedItGivesNothingAndOpensAgainOnlyWhenAllCameBack) {
  auto kept = arena_.allocate(64);
  arena_.Close();
  EXPECT_FALSE(arena_.Contains(arena_.allocate(64).get()));
  EXPECT_FALSE(arena_.Open(memory_, kBytes));
  kept.clear();
  EXPECT_TRUE(arena_.Open(memory_, kBytes));
}

TEST_F(ArenaAllocatorTest, SkipsToAnAlignedStart) {
  ASSERT_TRUE(arena_.Open(memory_ + 8, 200));
  const auto first = arena_.allocate(128);
  EXPECT_EQ(first.get(), memory_ + 64);
  EXPECT_FALSE(arena_.Contains(arena_.allocate(1).get()));
}

// Whatever the order of taking and giving back: pieces never overlap, and in the end the arena is whole again.
TEST_F(ArenaAllocatorTest, NeverGivesTheSameMemoryTwice) {
  std::mt19937 random(3);
  std::map<std::byte*, std::pair<size_t, c10::DataPtr>> taken;
  for (int i = 0; i < 5000; ++i) {
    if (random() % 2 == 0 && !taken.empty()) {
      taken.erase(std::next(taken.begin(), static_cast<long>(random() % taken.size())));
      continue;
    }
    const size_t bytes = 1 + random() % 2000;
    auto data = arena_.allocate(bytes);
    auto* at = static_cast<std::byte*>(data.get());
    if (!arena_.Contains(at)) continue;
    ASSERT_LE(at + bytes, memory_ + kBytes);
    const auto next = taken.lower_bound(at);
    if (next != taken.end()) {
      ASSERT_LE(at + bytes, next->first);
    }
    if (next != taken.begin()) {
      const auto previous = std::prev(next);
      ASSERT_LE(previous->first + previous->second.first, at);
    }
    taken.emplace(at, std::make_pair(bytes, std::move(data)));
  }
  taken.clear();
  EXPECT_EQ(arena_.allocate(kBytes).get(), memory_);
}

}  // namespace
}  // namespace touchstone

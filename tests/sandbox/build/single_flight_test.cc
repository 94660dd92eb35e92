#include "sandbox/build/single_flight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace touchstone {
namespace {

TEST(SingleFlightTest, ConcurrentCallersShareOneComputation) {
  constexpr int kFollowers = 7;
  SingleFlight<int> flights;
  std::atomic<int> computed = 0;
  std::atomic<int> leaders = 0;
  std::atomic<int> right = 0;
  const auto call = [&](bool wait_for_followers) {
    const auto landing = flights.Run("key", [&] {
      while (wait_for_followers && flights.Followers("key") < kFollowers) std::this_thread::yield();
      return ++computed;
    });
    leaders += landing.leader ? 1 : 0;
    right += *landing.value == 1 ? 1 : 0;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i <= kFollowers; ++i) threads.emplace_back(call, true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(leaders, 1);
  EXPECT_EQ(right, kFollowers + 1);
}

TEST(SingleFlightTest, NothingIsRememberedAfterwards) {
  SingleFlight<int> flights;
  int computed = 0;
  EXPECT_EQ(*flights.Run("key", [&] { return ++computed; }).value, 1);
  EXPECT_EQ(*flights.Run("key", [&] { return ++computed; }).value, 2);
}

TEST(SingleFlightTest, OtherKeysDoNotWait) {
  SingleFlight<int> flights;
  const auto outer = flights.Run("a", [&] { return *flights.Run("b", [] { return 1; }).value + 1; });
  EXPECT_EQ(*outer.value, 2);
}

}  // namespace
}  // namespace touchstone

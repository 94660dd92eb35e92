#include "reward/judge/window_plan.h"

#include <gtest/gtest.h>

namespace touchstone {
namespace {

class WindowPlanTest : public ::testing::Test {
 protected:
  WindowPlanTest() {
    TensorLayout output;
    output.bytes = 64 << 10;
    layout_.tensors.push_back(output);
    layout_.outputs.push_back(0);
    layout_.stride = 128 << 10;
    profile_.window = std::chrono::microseconds(2000);
    host_.handover_bound_us = 80;
    host_.handshake_us = 1;
    host_.hot_bytes = 1 << 20;
  }
  SetLayout layout_;
  MeasurementProfile profile_;
  HostFacts host_;
};

TEST_F(WindowPlanTest, TheFasterSideDecidesTheNumberOfCalls) {
  EXPECT_EQ(PlanWindow(layout_, profile_, host_, 100, 50).calls, 40u);
  EXPECT_EQ(PlanWindow(layout_, profile_, host_, 50, 100).calls, 40u);
  EXPECT_FALSE(PlanWindow(layout_, profile_, host_, 100, 50).resolution_limited);
}

TEST_F(WindowPlanTest, ASlowHandOverMakesWindowsLonger) {
  host_.handover_bound_us = 500;
  EXPECT_EQ(PlanWindow(layout_, profile_, host_, 100, 100).calls, 100u);
  host_.handover_bound_us = 80;
  host_.handshake_us = 50;
  EXPECT_EQ(PlanWindow(layout_, profile_, host_, 100, 100).calls, 50u);
}

TEST_F(WindowPlanTest, ASideThatIsFarSlowerBoundsTheWindowAndTheResultSaysSo) {
  const WindowPlan plan = PlanWindow(layout_, profile_, host_, 1, 100'000);
  EXPECT_EQ(plan.calls, 5u);
  EXPECT_TRUE(plan.resolution_limited);
}

TEST_F(WindowPlanTest, MemoryAndPagesBoundTheWindow) {
  profile_.block_bytes = 16 << 20;
  EXPECT_LE(PlanWindow(layout_, profile_, host_, 0.1, 0.1).calls * layout_.stride, profile_.block_bytes);
  layout_.stride = 64;
  layout_.tensors[0].bytes = 4;
  EXPECT_LE(PlanWindow(layout_, profile_, host_, 0.001, 0.001).calls, kMaxCalls);
}

TEST_F(WindowPlanTest, ColdRotatesThroughMoreThanTheCacheAndHotDoesNot) {
  profile_.cache = "cold";
  const WindowPlan cold = PlanWindow(layout_, profile_, host_, 1000, 1000);
  EXPECT_EQ(cold.calls, 2u);
  EXPECT_GT(cold.sets * layout_.stride, 2 * 2 * host_.hot_bytes);
  EXPECT_FALSE(cold.hot);
  profile_.cache = "hot";
  const WindowPlan hot = PlanWindow(layout_, profile_, host_, 1000, 1000);
  EXPECT_EQ(hot.sets, hot.calls);
  EXPECT_TRUE(hot.hot);
}

}  // namespace
}  // namespace touchstone

#include "env/cli/progress.h"

#include <gtest/gtest.h>

namespace touchstone::cli {
namespace {

using std::chrono::seconds;

TEST(ProgressTest, SaysHowMuchIsDoneAndHowLongItStillTakes) {
  EXPECT_EQ(ProgressText(0, 4, seconds(3), "a.cc"), "[                        ] 0/4  3 s  a.cc");
  EXPECT_EQ(ProgressText(1, 4, seconds(10), "b.cc"), "[======                  ] 1/4  10 s, about 30 s left  b.cc");
  EXPECT_EQ(ProgressText(4, 4, seconds(40), ""), "[========================] 4/4  40 s  ");
}

}  // namespace
}  // namespace touchstone::cli

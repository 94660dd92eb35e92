#include "base/work_thread.h"

#include <gtest/gtest.h>

#include <vector>

namespace touchstone {
namespace {

TEST(WorkThread, DoesWhatWasPostedInOrderBeforeItEnds) {
  std::vector<int> done;
  {
    WorkThread thread;
    for (int i = 0; i < 1000; ++i) thread.Post([&done, i] { done.push_back(i); });
  }
  ASSERT_EQ(done.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(done[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace touchstone

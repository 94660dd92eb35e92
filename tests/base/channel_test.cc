#include "base/channel.h"

#include <gtest/gtest.h>

#include "base/memfd.h"

namespace touchstone {
namespace {

TEST(ChannelTest, MessagesKeepTheirBordersAndDescriptors) {
  auto pair = ChannelPair();
  ASSERT_TRUE(pair.ok());
  auto content = CreateSealedMemfd("content", "inside");
  ASSERT_TRUE(content.ok());
  const int fds[] = {content->get()};
  ASSERT_TRUE(Send(pair->first.get(), "one", fds).ok());
  ASSERT_TRUE(Send(pair->first.get(), "two").ok());
  auto one = Receive(pair->second.get());
  auto two = Receive(pair->second.get());
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->bytes, "one");
  ASSERT_EQ(one->fds.size(), 1u);
  EXPECT_EQ(*ReadAll(one->fds[0].get(), 100), "inside");
  EXPECT_EQ(two->bytes, "two");
}

TEST(ChannelTest, SaysThatThePeerIsGoneAndThatNothingCame) {
  auto pair = ChannelPair();
  ASSERT_TRUE(pair.ok());
  EXPECT_EQ(Receive(pair->second.get(), std::chrono::milliseconds(1)).error().code(), ErrorCode::kDeadline);
  pair->first.Reset();
  EXPECT_EQ(Receive(pair->second.get()).error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(Send(pair->second.get(), "x").error().code(), ErrorCode::kUnavailable);
}

TEST(ChannelTest, RefusesWhatIsOverTheLimit) {
  auto pair = ChannelPair();
  ASSERT_TRUE(pair.ok());
  EXPECT_EQ(Send(pair->first.get(), std::string(kMaxMessageBytes + 1, 'x')).error().code(),
            ErrorCode::kInvalidArgument);
}

TEST(MemfdTest, SealedContentCannotBeChanged) {
  auto fd = CreateSealedMemfd("sealed", "abc");
  ASSERT_TRUE(fd.ok());
  EXPECT_LT(::pwrite(fd->get(), "x", 1, 0), 0);
  EXPECT_LT(::ftruncate(fd->get(), 0), 0);
  EXPECT_FALSE(Mapping::Map(fd->get(), 3, Mapping::Access::kReadWrite).ok());
}

TEST(MemfdTest, FutureWritesCanBeSealedWhileTheOwnerStillWrites) {
  auto fd = CreateMemfd("page", 4096);
  ASSERT_TRUE(fd.ok());
  auto writable = Mapping::Map(fd->get(), 4096, Mapping::Access::kReadWrite);
  ASSERT_TRUE(writable.ok());
  ASSERT_TRUE(SealFutureWrites(fd->get()).ok());
  EXPECT_FALSE(Mapping::Map(fd->get(), 4096, Mapping::Access::kReadWrite).ok());
  auto readable = Mapping::Map(fd->get(), 4096, Mapping::Access::kRead);
  ASSERT_TRUE(readable.ok());
  writable->data()[7] = std::byte{42};
  EXPECT_EQ(readable->data()[7], std::byte{42});
}

}  // namespace
}  // namespace touchstone

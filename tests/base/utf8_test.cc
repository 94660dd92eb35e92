#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace touchstone {
namespace {

TEST(Utf8, PrefixFollowsTheRfc) {
  const struct {
    const char* text;
    size_t good;
  } cases[] = {{"", 0},
               {"abc", 3},
               {"12345678ü", 10},
               {"\xc0\x80", 0},  // overlong
               {"\xe0\x80\x80", 0},
               {"\xf0\x80\x80\x80", 0},
               {"\xed\xa0\x80", 0},  // a surrogate
               {"\xed\x9f\xbf", 3},
               {"\xf4\x90\x80\x80", 0},  // above U+10FFFF
               {"\xf4\x8f\xbf\xbf", 4},
               {"a\xf0\x9f\x98\x80", 5},
               {"a\xf0\x9f\x98", 1},
               {"\x80", 0},
               {"\xff", 0},
               {"1234567\xff", 7}};
  for (const auto& row : cases) EXPECT_EQ(Utf8Prefix(row.text), row.good) << row.text;
}

TEST(Utf8, BadBytesAreReplacedOneByOne) {
  EXPECT_EQ(ToUtf8("aü"), "aü");
  EXPECT_EQ(ToUtf8("a\xff\xfe"
                   "b"),
            "a\xef\xbf\xbd\xef\xbf\xbd"
            "b");
  EXPECT_EQ(ToUtf8("\xf0\x9f"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_TRUE(IsUtf8(ToUtf8("\xed\xa0\x80")));
}

TEST(Utf8, CharactersAreCodePoints) {
  EXPECT_EQ(CountCharacters(""), 0U);
  EXPECT_EQ(CountCharacters("aü🚀"), 3U);
}

}  // namespace
}  // namespace touchstone

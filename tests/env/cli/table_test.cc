#include "env/cli/table.h"

#include <gtest/gtest.h>

namespace touchstone::cli {
namespace {

TEST(TableTest, ColumnsAreAsWideAsTheirWidestCellInCharacters) {
  Table table({{"what"}, {"time", Table::Align::kRight}, {"why"}});
  table.Add({"a", "1 µs", "x"});
  table.Add({"longer", "20.5 ms"});
  EXPECT_EQ(table.ToString(),
            "what       time  why\n"
            "a          1 µs  x\n"
            "longer  20.5 ms\n");
}

// What a candidate has printed reaches a terminal: it must not be able to move its cursor or forge a line.
TEST(TableTest, OneLineLetsNoControlCharacterThrough) {
  EXPECT_EQ(OneLine("a\x1b[2Jb\r\nc\td"), "a [2Jb  c d");
  EXPECT_EQ(OneLine("\xc2\x9b"
                    "31m"),
            " 31m");
  EXPECT_EQ(OneLine("µ – ×"), "µ – ×");
  EXPECT_EQ(OneLine("bad \xff\xc3"), "bad ??");
  EXPECT_EQ(OneLine(std::string_view("nul\0!", 5)), "nul !");
}

TEST(TableTest, KnowsUtf8) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("aµ×\xf0\x9f\x98\x80"));
  EXPECT_FALSE(IsUtf8("\xb5"));
  EXPECT_FALSE(IsUtf8("\xe2\x82"));
  EXPECT_FALSE(IsUtf8("\xc0\xaf"));
}

TEST(TableTest, TimesHaveTheUnitThatFits) {
  EXPECT_EQ(FormatMicroseconds(0.5), "0.5 µs");
  EXPECT_EQ(FormatMicroseconds(123.456), "123.5 µs");
  EXPECT_EQ(FormatMicroseconds(1234.5), "1.234 ms");
  EXPECT_EQ(FormatMicroseconds(2.5e6), "2.5 s");
}

}  // namespace
}  // namespace touchstone::cli

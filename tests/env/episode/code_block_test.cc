#include "env/episode/code_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace touchstone {
namespace {

using ::testing::HasSubstr;

Submitted Take(const std::string& response, size_t limit = 1000) {
  return TakeCandidate({.source = "", .response = response}, "cpp", limit);
}

// The bytes of the response from one code point to another.
std::string Span(const std::string& text, int64_t begin, int64_t end) {
  std::string span;
  int64_t at = -1;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++at;
    if (at >= begin && at < end) span += c;
  }
  return span;
}

struct Row {
  const char* what;
  std::string response;
  std::string source;  // empty: a format error
  const char* why;
};

TEST(CodeBlock, IsTheLastOneOfTheRightLanguage) {
  const Row rows[] = {
      {"one", "```cpp\nint a;\n```", "int a;\n", ""},
      {"words around it", "So:\n```cpp\nint a;\n```\nDone.", "int a;\n", ""},
      {"the last", "```cpp\nint a;\n```\n```cpp\nint b;\n```\n", "int b;\n", ""},
      {"other names", "```c++\nint a;\n```\n```CXX\nint b;\n```\n```cc\nint c;\n```", "int c;\n", ""},
      {"other languages", "```cpp\nint a;\n```\n```python\nb\n```\n", "int a;\n", ""},
      {"an unmarked one does not count beside a marked one", "```cpp\nint a;\n```\n```\nout\n```\n", "int a;\n", ""},
      {"an unmarked one when there is no other", "```\nint a;\n```\n```sh\nls\n```\n", "int a;\n", ""},
      {"attributes", "```cpp title=\"x.cc\"\nint a;\n```", "int a;\n", ""},
      {"indented fences", "1. so\n   ```cpp\n   int a;\n   ```\n", "   int a;\n", ""},
      {"carriage returns", "```cpp\r\nint a;\r\n```\r\n", "int a;\r\n", ""},
      {"longer fences", "````cpp\nint a;\n```\nint b;\n````\n", "int a;\n```\nint b;\n", ""},
      {"a fence with a mark does not close", "```cpp\n// ```cpp\nint a;\n```", "// ```cpp\nint a;\n", ""},
      {"characters of several bytes", "größer 🚀\n```cpp\nint ä;\n```", "int ä;\n", ""},
      {"code in a line", "Use ```cpp int a; ``` here", "", "no fenced code block marked cpp"},
      {"nothing", "", "", "no fenced code block marked cpp"},
      {"another language alone", "```python\nx\n```", "", "no fenced code block marked cpp"},
      {"not closed", "```cpp\nint a;\n", "", "not closed"},
      {"the last one not closed", "```cpp\nint a;\n```\n```cpp\nint b;", "", "not closed"},
      {"an unmarked one not closed after a marked one", "```cpp\nint a;\n```\n```\nint b;", "int a;\n", ""},
      {"an opening line alone", "```cpp", "", "not closed"},
      {"empty", "```cpp\n```", "", "empty"},
      {"blank", "```cpp\n  \n\n```", "", "empty"},
      {"not UTF-8", "```cpp\nint \xff;\n```", "", "not UTF-8 from byte 11"},
      {"a surrogate", "\xed\xa0\x80```cpp\nint a;\n```", "", "not UTF-8 from byte 0"},
      {"a NUL", std::string("```cpp\nint a;") + '\0' + "\n```", "", "NUL"},
      {"too long a source", "```cpp\n" + std::string(1001, 'x') + "\n```", "", "1002 bytes, above the limit of 1000"},
      {"too long an answer", std::string(4001, 'x'), "", "4001 bytes, above the limit of 4000"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const Submitted taken = Take(row.response);
    EXPECT_EQ(taken.source, row.source);
    EXPECT_EQ(taken.why_format_error.empty(), !row.source.empty());
    EXPECT_THAT(taken.why_format_error, HasSubstr(row.why));
    if (row.source.empty()) {
      EXPECT_EQ(taken.code_begin, -1);
      EXPECT_EQ(taken.code_end, -1);
    } else {
      EXPECT_EQ(Span(row.response, taken.code_begin, taken.code_end), row.source);
      EXPECT_EQ(taken.code_length, taken.code_end - taken.code_begin);
    }
  }
}

TEST(CodeBlock, ASourceIsTakenAsItIs) {
  const auto take = [](const std::string& source) { return TakeCandidate({source, ""}, "cpp", 100); };
  const Submitted taken = take("int ä; // ```");
  EXPECT_EQ(taken.source, "int ä; // ```");
  EXPECT_EQ(taken.code_begin, -1);
  EXPECT_EQ(taken.code_length, 13);
  EXPECT_THAT(take(" \n").why_format_error, HasSubstr("empty"));
  EXPECT_THAT(take(std::string(101, 'x')).why_format_error, HasSubstr("above the limit of 100"));
  EXPECT_THAT(take("\xff").why_format_error, HasSubstr("UTF-8"));
  EXPECT_THAT(take(std::string(3, '\0')).why_format_error, HasSubstr("NUL"));
}

}  // namespace
}  // namespace touchstone

// The samples are what g++ 12.2, GNU as and ld 2.40 print.
#include "sandbox/build/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/build/text.h"

namespace touchstone {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DiagnosticsTest, AnErrorWithPlaceAndMessage) {
  const auto found = ParseDiagnostics(
      "candidate.cc: In function 'void run(const float*, float*, int64_t)':\n"
      "candidate.cc:4:18: error: expected ')' before '}' token\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].file, "candidate.cc");
  EXPECT_EQ(found[0].line, 4);
  EXPECT_EQ(found[0].column, 18);
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_EQ(found[0].message, "expected ')' before '}' token");
  EXPECT_TRUE(HasError(found));
}

TEST(DiagnosticsTest, ErrorsComeBeforeWarnings) {
  const auto found = ParseDiagnostics(
      "candidate.cc:2:2: warning: #warning \"x\" [-Wcpp]\n"
      "candidate.cc:1:10: fatal error: nope.h: No such file or directory\n"
      "compilation terminated.\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].severity, "fatal error");
  EXPECT_EQ(found[0].message, "nope.h: No such file or directory");
  EXPECT_EQ(found[1].severity, "warning");
  EXPECT_FALSE(HasError({found[1]}));
}

TEST(DiagnosticsTest, AnErrorInAHeaderOfTheSystemIsReportedWhereOurCodeAskedForIt) {
  const auto found = ParseDiagnostics(
      "In file included from /usr/include/c++/12/algorithm:61,\n"
      "                 from candidate.cc:1:\n"
      "/usr/include/c++/12/bits/stl_algo.h: In instantiation of 'constexpr void std::__sort(...)':\n"
      "/usr/include/c++/12/bits/stl_algo.h:4820:18:   required from 'constexpr void std::sort(...)'\n"
      "candidate.cc:4:77:   required from here\n"
      "/usr/include/c++/12/bits/stl_algo.h:1938:50: error: no match for 'operator-'\n"
      "In file included from /usr/include/c++/12/bits/stl_algobase.h:67,\n"
      "                 from /usr/include/c++/12/algorithm:60:\n"
      "/usr/include/c++/12/bits/stl_iterator.h:621:5: note: candidate: 'one'\n"
      "/usr/include/c++/12/bits/stl_iterator.h:621:5: note:   template argument deduction/substitution failed:\n"
      "/usr/include/c++/12/bits/stl_algo.h:1938:50: note:   'x' is not derived from 'y'\n"
      "/usr/include/c++/12/bits/stl_iterator.h:1778:5: note: candidate: 'two'\n"
      "candidate.cc:9:1: error: second\n");
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].file, "candidate.cc");
  EXPECT_EQ(found[0].line, 4);
  EXPECT_EQ(found[0].column, 77);
  EXPECT_EQ(found[0].message, "no match for 'operator-' (in /usr/include/c++/12/bits/stl_algo.h:1938)");
  for (size_t i = 1; i <= 3; ++i) EXPECT_EQ(found[i].severity, "note");
  EXPECT_EQ(found[4].message, "second");
}

TEST(DiagnosticsTest, AnErrorInAnIncludedFileIsReportedAtTheInclude) {
  const auto found = ParseDiagnostics(
      "In file included from candidate.cc:5:\n"
      "/usr/include/x.h:1:2: error: #error no\n"
      "candidate.cc:8:2: error: other\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].file, "candidate.cc");
  EXPECT_EQ(found[0].line, 5);
  EXPECT_THAT(found[0].message, HasSubstr("/usr/include/x.h:1"));
  EXPECT_EQ(found[1].line, 8);
}

TEST(DiagnosticsTest, LinkerErrorsNameTheSymbolAndNotTheDriversSummary) {
  const auto found = ParseDiagnostics(
      "/usr/bin/ld: /tmp/ccJLIAcO.o: in function `run':\n"
      "3:(.text+0x3): undefined reference to `zz'\n"
      "/usr/bin/ld: 3:(.text+0x13): undefined reference to `helper(int)'\n"
      "/usr/bin/ld: 3:(.text+0x33): undefined reference to `helper(int)'\n"
      "/usr/bin/ld: /tmp/ccJLIAcO.o:(.data.rel+0x0): undefined reference to `vtable for S'\n"
      "collect2: error: ld returned 1 exit status\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].file, "candidate.cc");
  EXPECT_EQ(found[0].line, 0);
  EXPECT_EQ(found[0].message, "linker: undefined reference to `zz'");
  EXPECT_EQ(found[1].message, "linker: undefined reference to `helper(int)'");
  EXPECT_EQ(found[2].message, "linker: undefined reference to `vtable for S'");
}

TEST(DiagnosticsTest, AMissingEntryPointIsExplained) {
  const auto found = ParseDiagnostics(
      "/usr/bin/ld: required symbol `run' not defined\n"
      "collect2: error: ld returned 1 exit status\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].message, HasSubstr("define it exactly as task.h declares it"));
}

TEST(DiagnosticsTest, TheDriversSummaryStaysWhereNothingElseIsSaid) {
  const auto found = ParseDiagnostics("collect2: error: ld returned 1 exit status\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, "ld returned 1 exit status");
}

TEST(DiagnosticsTest, AssemblerErrors) {
  const auto found = ParseDiagnostics(
      "{standard input}: Assembler messages:\n"
      "{standard input}:4: Error: file not found: /etc/shadow\n"
      "candidate.cc:2: Error: no such instruction: `bogus'\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].file, "");
  EXPECT_EQ(found[0].line, 0);
  EXPECT_EQ(found[0].message, "assembler: file not found: /etc/shadow");
  EXPECT_EQ(found[1].file, "candidate.cc");
  EXPECT_EQ(found[1].line, 2);
}

TEST(DiagnosticsTest, ToolsNameNoFile) {
  const auto found =
      ParseDiagnostics("x86_64-linux-gnu-g++-12: fatal error: Killed signal terminated program cc1plus\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].file, "");
  EXPECT_EQ(found[0].severity, "fatal error");
}

TEST(DiagnosticsTest, HostileBytesBecomeHarmless) {
  const auto found = ParseDiagnostics("candidate.cc:1:2: error: \x1b[31mred\x07 \xff\xfe \xC2\x9B m\xC3\xA4h \r\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, "?[31mred? ?? ?? m\xC3\xA4h ?");
}

TEST(DiagnosticsTest, NumberAndLengthAreBounded) {
  std::string output;
  for (int i = 0; i < 5000; ++i)
    output += "candidate.cc:" + std::to_string(i) + ":1: error: " + std::string(3000, 'x') + "\n";
  const auto found = ParseDiagnostics(output);
  EXPECT_EQ(found.size(), kMaxDiagnostics);
  for (const Diagnostic& d : found) EXPECT_LE(d.message.size(), kMaxDiagnosticBytes);
}

TEST(TrimLogTest, ShortLogsStayAndNamesAreThoseThatPeopleKnow) {
  EXPECT_EQ(TrimLog("/usr/bin/ld: /tmp/ccJLIAcO.o: in function `run':\n3:(.text+0x3): undefined reference to `zz'\n"),
            "/usr/bin/ld: candidate.o: in function `run':\ncandidate.cc:(.text+0x3): undefined reference to `zz'\n");
  EXPECT_EQ(TrimLog("/proc/self/fd/3:1:1 /proc/self/fd/4:1:1"), "candidate.cc:1:1 task.h:1:1");
}

TEST(TrimLogTest, LongLogsAreCutAtALineAndSayIt) {
  std::string output;
  for (int i = 0; i < 3000; ++i) output += "line " + std::to_string(i) + "\n";
  const std::string log = TrimLog(output);
  EXPECT_LE(log.size(), kMaxLogBytes);
  EXPECT_TRUE(log.starts_with("line 0\n"));
  EXPECT_TRUE(log.ends_with(" more bytes)\n"));
  const std::string one_line = TrimLog(std::string(100'000, 'x'));
  EXPECT_LE(one_line.size(), kMaxLogBytes);
  EXPECT_THAT(one_line, HasSubstr("more bytes)"));
}

TEST(TextTest, CutsBetweenCharacters) {
  const std::string text = "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4";
  EXPECT_EQ(Shorten(text, 8), text);
  EXPECT_EQ(Shorten(text, 7), "\xC3\xA4\xC3\xA4\xE2\x80\xA6");
  EXPECT_EQ(Shorten(text, 6), "\xC3\xA4\xE2\x80\xA6");
}

TEST(TextTest, KeepsWellFormedUtf8Only) {
  EXPECT_EQ(CleanText("\xE2\x82\xAC \xF0\x9F\x98\x80"), "\xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(CleanText("\xC0\xAF"), "??");            // overlong
  EXPECT_EQ(CleanText("\xED\xA0\x80"), "???");       // surrogate
  EXPECT_EQ(CleanText("\xF4\x90\x80\x80"), "????");  // beyond Unicode
  EXPECT_EQ(CleanText("\xE2\x82"), "??");            // cut
  EXPECT_EQ(CleanText(std::string_view("a\0b\tc", 5)), "a?b c");
}

}  // namespace
}  // namespace touchstone

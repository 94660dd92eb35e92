// Sources that attack the compiler, its host, or whoever reads its output. Each has a control: what the same source
// does without a box.
#include <gmock/gmock.h>

#include "tests/sandbox/build/pool_fixture.h"

namespace touchstone {
namespace {

using Kind = BuildOutcome::Kind;
using testing::HasSubstr;
using testing::Not;

class HostileSourceTest : public PoolTest {
 protected:
  void SetUp() override {
    PoolTest::SetUp();
    canary_ = folder_ + "/canary";
    std::ofstream(canary_) << "secret_of_the_host\n";
  }
  std::string OutsideArtifact() const {
    std::ifstream in(folder_ + "/outside.so", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  std::string canary_;
};

TEST_F(HostileSourceTest, IncludeOfAFileOfTheHostFindsNothing) {
  const std::string source = "#include \"" + canary_ + "\"\n" + kGoodSource;
  EXPECT_THAT(CompileOutside(source).output, HasSubstr("secret_of_the_host")) << "the control does not leak";
  const BuildOutcome outcome = Build(source);
  EXPECT_EQ(outcome.kind, Kind::kCompileError);
  EXPECT_THAT(outcome.log, HasSubstr("No such file or directory"));
  EXPECT_THAT(outcome.log, Not(HasSubstr("secret_of_the_host")));
}

TEST_F(HostileSourceTest, IncludeOfEtcShadowFindsNothing) {
  const BuildOutcome outcome = Build(std::string("#include \"/etc/shadow\"\n") + kGoodSource);
  ASSERT_EQ(outcome.kind, Kind::kCompileError);
  EXPECT_THAT(outcome.diagnostics[0].message, HasSubstr("/etc/shadow: No such file"));
}

TEST_F(HostileSourceTest, IncbinOfAFileOfTheHostFindsNothing) {
  const std::string source = "asm(\".incbin \\\"" + canary_ + "\\\"\");\n" + kGoodSource;
  EXPECT_TRUE(CompileOutside(source).succeeded);
  EXPECT_THAT(OutsideArtifact(), HasSubstr("secret_of_the_host")) << "the control does not leak";
  const BuildOutcome outcome = Build(source);
  ASSERT_EQ(outcome.kind, Kind::kCompileError) << outcome.log;
  EXPECT_THAT(outcome.diagnostics[0].message, HasSubstr("file not found"));
}

TEST_F(HostileSourceTest, HasIncludeTellsNothingAboutTheHost) {
  const std::string source = "#if __has_include(\"" + canary_ + "\")\n#error there it is\n#endif\n" + kGoodSource;
  EXPECT_THAT(CompileOutside(source).output, HasSubstr("there it is"));
  EXPECT_EQ(Build(source).kind, Kind::kBuilt);
}

// A candidate could carry a library away inside its artifact and load it later: none is there but those of C and C++.
TEST_F(HostileSourceTest, IncbinOfALibraryOfTheHostFindsNothing) {
  const std::string library = "/usr/lib/x86_64-linux-gnu/libsodium.so.23";
  const std::string source = "asm(\".incbin \\\"" + library + "\\\"\");\n" + kGoodSource;
  EXPECT_TRUE(CompileOutside(source).succeeded) << "the control does not find the library";
  EXPECT_EQ(Build(source).kind, Kind::kCompileError);
}

TEST_F(HostileSourceTest, TheEnvironmentOfTheServerIsNotThere) {
  ::setenv("TOUCHSTONE_TEST_TOKEN", "token_of_the_server", 1);
  const BuildOutcome outcome = Build("#include \"/proc/self/environ\"\n#include \"/proc/1/environ\"\n");
  EXPECT_EQ(outcome.kind, Kind::kCompileError);
  EXPECT_THAT(outcome.log, Not(HasSubstr("token_of_the_server")));
  ::unsetenv("TOUCHSTONE_TEST_TOKEN");
}

TEST_F(HostileSourceTest, EndlessDevicesEndAtTheMemoryLimit) {
  options_.memory_bytes = uint64_t{200} << 20;
  for (const char* device : {"/dev/zero", "/dev/urandom"}) {
    const std::string source = std::string("#include \"") + device + "\"\n" + kGoodSource;
    const CommandResult control = CompileOutside(source, "ulimit -v 400000;");
    EXPECT_THAT(control.output, HasSubstr("out of memory")) << device << ": the control does not eat memory";
    const BuildOutcome outcome = Build(source);
    EXPECT_EQ(outcome.kind, Kind::kOutOfMemory) << device << "\n" << outcome.log;
    EXPECT_EQ(Build(kGoodSource).kind, Kind::kBuilt) << "the next build works";
  }
}

TEST_F(HostileSourceTest, AMacroBombEndsAtTheMemoryLimit) {
  options_.memory_bytes = uint64_t{200} << 20;
  std::string source = "#define A0 x+\n";
  for (int i = 1; i <= 8; ++i) {
    const std::string previous = "A" + std::to_string(i - 1) + " ";
    source += "#define A" + std::to_string(i) + " ";
    for (int k = 0; k < 16; ++k) source += previous;
    source += "\n";
  }
  const BuildOutcome outcome = Build(source + "int f(int x) { return A8 x; }\n" + kGoodSource);
  EXPECT_EQ(outcome.kind, Kind::kOutOfMemory) << outcome.log;
}

TEST_F(HostileSourceTest, ATemplateBombEndsAtTheTimeoutAndIsNotRemembered) {
  const std::string bomb =
      "template <int D, long N> struct F { static constexpr long v = F<D - 1, 2 * N>::v + F<D - 1, 2 * N + 1>::v; };\n"
      "template <long N> struct F<0, N> { static constexpr long v = N; };\n"
      "long g() { return F<22, 1>::v; }\n" +
      std::string(kGoodSource);
  options_.timeout = std::chrono::milliseconds(700);
  options_.memory_bytes = uint64_t{2} << 30;
  for (int i = 0; i < 2; ++i) {
    const BuildOutcome outcome = Build(bomb);
    EXPECT_EQ(outcome.kind, Kind::kTimeout) << outcome.log;
    EXPECT_FALSE(outcome.from_cache);
    EXPECT_GE(outcome.wall, options_.timeout);
  }
  EXPECT_EQ(Build(kGoodSource).kind, Kind::kBuilt) << "the control: an honest source builds in the same time";
}

TEST_F(HostileSourceTest, WhatTimedOutIsBuiltWhereThereIsMoreTime) {
  const std::string slow =
      "template <int D, long N> struct F { static constexpr long v = F<D - 1, 2 * N>::v + F<D - 1, 2 * N + 1>::v; };\n"
      "template <long N> struct F<0, N> { static constexpr long v = N; };\n"
      "long g() { return F<12, 1>::v; }\n" +
      std::string(kGoodSource);
  options_.timeout = std::chrono::milliseconds(20);
  EXPECT_EQ(Build(slow).kind, Kind::kTimeout);
  options_.timeout = std::chrono::seconds(60);
  const BuildOutcome outcome = Build(slow);
  EXPECT_EQ(outcome.kind, Kind::kBuilt) << outcome.log;
  EXPECT_FALSE(outcome.from_cache);
}

TEST_F(HostileSourceTest, AGiantArrayEndsAtTheFileSizeLimitAndIsNotRemembered) {
  const std::string source = "char big[3ull << 30] = {1};\n" + std::string(kGoodSource);
  for (int i = 0; i < 2; ++i) {
    const BuildOutcome outcome = Build(source);
    EXPECT_EQ(outcome.kind, Kind::kTooLarge) << outcome.log;
    EXPECT_FALSE(outcome.from_cache);
  }
}

TEST_F(HostileSourceTest, AnArtifactOverTheLimitIsTooLarge) {
  const auto source = [](size_t bytes) {
    return "__attribute__((visibility(\"default\"))) char big[" + std::to_string(bytes) + "] = {1};\n" + kGoodSource;
  };
  EXPECT_EQ(Build(source(options_.artifact_bytes)).kind, Kind::kTooLarge);
  EXPECT_EQ(Build(source(options_.artifact_bytes / 2)).kind, Kind::kBuilt);
}

TEST_F(HostileSourceTest, ASourceOverTheLimitIsTooLarge) {
  options_.source_bytes = 1000;
  EXPECT_EQ(Build(kGoodSource + std::string(1000, ' ')).kind, Kind::kTooLarge);
  EXPECT_EQ(Build(kGoodSource).kind, Kind::kBuilt);
}

TEST_F(HostileSourceTest, AFloodOfErrorsIsCutAndStaysACompileError) {
  std::string source = "#error first\n";
  for (int i = 0; i < 3000; ++i) source += "#warning flood of words that nobody wants to read\n";
  const BuildOutcome outcome = Build(source + kGoodSource);
  EXPECT_EQ(outcome.kind, Kind::kCompileError);
  EXPECT_LE(outcome.log.size(), 16u * 1024u);
  EXPECT_THAT(outcome.log, HasSubstr("more bytes)"));
  EXPECT_LE(outcome.diagnostics.size(), 32u);
}

TEST_F(HostileSourceTest, AFloodOfWarningsIsCut) {
  std::string source;
  for (int i = 0; i < 5000; ++i) source += "#warning flood of words that nobody wants to read\n";
  EXPECT_EQ(Build(source + kGoodSource).kind, Kind::kTooLarge);
  EXPECT_EQ(Build("#warning just one\n" + std::string(kGoodSource)).kind, Kind::kBuilt);
}

TEST_F(HostileSourceTest, ASourceThatIncludesItselfForEverIsACompileError) {
  EXPECT_EQ(Build("#include \"/proc/self/fd/3\"\n").kind, Kind::kCompileError);
}

TEST_F(HostileSourceTest, AForgedDeathNoticeOfTheCompilerHurtsTheForgerOnly) {
  const std::string forged = "#line 1 \"g++: fatal error: Killed signal terminated program cc1plus\\ng++\"\n";
  const BuildOutcome built = Build(forged + "#warning x\n" + kGoodSource);
  EXPECT_EQ(built.kind, Kind::kBuilt) << built.log;
  const BuildOutcome failed = Build(forged + "#error x\n");
  EXPECT_NE(failed.kind, Kind::kBuilt);
  EXPECT_NE(failed.kind, Kind::kOutOfMemory);
}

}  // namespace
}  // namespace touchstone

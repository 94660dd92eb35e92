#include "sandbox/build/compiler.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "sandbox/build/diagnostics.h"

namespace touchstone {
namespace {

using Kind = BuildOutcome::Kind;

CompilerRun Exited(int code, std::string output) {
  CompilerRun run;
  run.outcome.kind = Outcome::Kind::kExited;
  run.outcome.code = code;
  run.output = std::move(output);
  return run;
}

Kind KindOf(const CompilerRun& run) { return Classify(run, ParseDiagnostics(run.output)); }

TEST(ClassifyTest, SuccessNeedsAnArtifact) {
  CompilerRun run = Exited(0, "");
  EXPECT_EQ(KindOf(run), Kind::kCrashed);
  run.artifact = "ELF";
  EXPECT_EQ(KindOf(run), Kind::kBuilt);
  run.artifact.clear();
  run.artifact_refused = true;
  EXPECT_EQ(KindOf(run), Kind::kTooLarge);
}

TEST(ClassifyTest, AnErrorOfTheSource) {
  EXPECT_EQ(KindOf(Exited(1, "candidate.cc:1:1: error: no\n")), Kind::kCompileError);
}

TEST(ClassifyTest, LimitsComeBeforeWhatTheCompilerSays) {
  CompilerRun run = Exited(1, "candidate.cc:1:1: error: no\n");
  run.timed_out = true;
  EXPECT_EQ(KindOf(run), Kind::kTimeout);
  run.outcome.out_of_memory = true;
  EXPECT_EQ(KindOf(run), Kind::kOutOfMemory);
}

TEST(ClassifyTest, TheDriverTellsHowItsToolsDied) {
  const std::string end = " signal terminated program cc1plus\ncompilation terminated.\n";
  EXPECT_EQ(KindOf(Exited(1, "x86_64-linux-gnu-g++-12: fatal error: Killed" + end)), Kind::kCrashed);
  EXPECT_EQ(KindOf(Exited(1, "collect2: fatal error: ld terminated with signal 9 [Killed]\ncompilation terminated.\n")),
            Kind::kCrashed);
  EXPECT_EQ(KindOf(Exited(1, "g++: fatal error: CPU time limit exceeded" + end)), Kind::kTimeout);
  EXPECT_EQ(KindOf(Exited(4, "g++: internal compiler error: File size limit exceeded signal terminated program as\n")),
            Kind::kTooLarge);
  EXPECT_EQ(KindOf(Exited(4, "candidate.cc:1:1: internal compiler error: in foo, at bar.cc:3\n")), Kind::kCrashed);
}

TEST(ClassifyTest, WordsOfTheSourceAreNoLimits) {
  EXPECT_EQ(KindOf(Exited(1, "candidate.cc:1:2: error: #error out of memory\n")), Kind::kCompileError);
  for (const char* words : {"Killed signal terminated program y", "collect2: ld terminated with signal 9 [Killed]"}) {
    EXPECT_EQ(KindOf(Exited(1, "candidate.cc:1:2: error: #error x: " + std::string(words) + "\n")),
              Kind::kCompileError);
  }
}

TEST(ClassifyTest, LimitsThatTheToolsMeetThemselves) {
  EXPECT_EQ(KindOf(Exited(1, "cc1plus: out of memory allocating 65536 bytes after a total of 1 bytes\n")),
            Kind::kOutOfMemory);
  EXPECT_EQ(KindOf(Exited(1, "/usr/bin/ld: final link failed: No space left on device\n")), Kind::kTooLarge);
}

TEST(ClassifyTest, SignalsOfTheDriverItself) {
  CompilerRun run;
  run.outcome.kind = Outcome::Kind::kSignalled;
  run.outcome.signal = SIGSEGV;
  EXPECT_EQ(KindOf(run), Kind::kCrashed);
  run.outcome.signal = SIGXCPU;
  EXPECT_EQ(KindOf(run), Kind::kTimeout);
}

TEST(ClassifyTest, AFloodWithAnErrorInItIsACompileError) {
  CompilerRun run;
  run.outcome.kind = Outcome::Kind::kKilled;
  run.output_cut = true;
  run.output = "candidate.cc:1:1: warning: w\n";
  EXPECT_EQ(KindOf(run), Kind::kTooLarge);
  run.output += "candidate.cc:2:1: error: e\n";
  EXPECT_EQ(KindOf(run), Kind::kCompileError);
}

TEST(ClassifyTest, FailureWithoutAWordIsACrash) { EXPECT_EQ(KindOf(Exited(1, "")), Kind::kCrashed); }

}  // namespace
}  // namespace touchstone

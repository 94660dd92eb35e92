#include "sandbox/runner/libraries/runtime_binds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "sandbox/runner/libraries/elf_interpreter.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::set<std::string> TargetNames(const std::vector<Bind>& binds) {
  std::set<std::string> names;
  for (const Bind& bind : binds) names.insert(fs::path(bind.target).filename());
  return names;
}

std::string Self() { return fs::read_symlink("/proc/self/exe"); }

TEST(RuntimeBindsTest, NamesSingleFilesThatExist) {
  const auto binds = RuntimeBinds(Self());
  ASSERT_TRUE(binds.ok()) << binds.error().ToString();
  for (const Bind& bind : *binds) {
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(bind.source))) << bind.source;
    EXPECT_TRUE(bind.target.starts_with('/')) << bind.target;
    EXPECT_EQ(bind.target.find(".."), std::string::npos);
    EXPECT_FALSE(bind.optional);
  }
}

TEST(RuntimeBindsTest, HoldsTheProgramTheLoaderAndWhatACandidateMayLink) {
  const auto binds = RuntimeBinds(Self());
  ASSERT_TRUE(binds.ok()) << binds.error().ToString();
  EXPECT_EQ((*binds)[0].target, Self());
  const auto loader = ElfInterpreter(Self());
  ASSERT_TRUE(loader.ok());
  EXPECT_EQ((*binds)[1].target, *loader);
  const std::set<std::string> names = TargetNames(*binds);
  for (const char* name : {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
}

TEST(RuntimeBindsTest, NoTargetTwice) {
  const auto binds = RuntimeBinds(Self());
  ASSERT_TRUE(binds.ok());
  std::set<std::string> targets;
  for (const Bind& bind : *binds) EXPECT_TRUE(targets.insert(bind.target).second) << bind.target;
}

// The runner of `cpp` candidates sees nothing that computes for them; the control is that the same function finds the
// libraries of a program that does need Torch.
TEST(RuntimeBindsTest, TheNativeRunnerSeesNoBlasAndNoTorch) {
  const auto allowed = RuntimeBinds(TOUCHSTONE_CPP_RUNNER);
  ASSERT_TRUE(allowed.ok()) << allowed.error().ToString();
  for (const std::string& name : TargetNames(*allowed)) {
    for (const char* word : {"blas", "lapack", "torch", "mkl", "dnnl", "c10", "fftw", "cuda"}) {
      EXPECT_EQ(name.find(word), std::string::npos) << name;
    }
  }
  EXPECT_LE(allowed->size(), 12u);
}

TEST(RuntimeBindsTest, ATorchProgramGetsTheLibrariesOfTorch) {
  const auto binds = RuntimeBinds(TOUCHSTONE_TORCH_PROGRAM);
  ASSERT_TRUE(binds.ok()) << binds.error().ToString();
  const std::set<std::string> names = TargetNames(*binds);
  EXPECT_EQ(names.count("libtorch_cpu.so"), 1u);
  EXPECT_EQ(names.count("libc10.so"), 1u);
}

TEST(RuntimeBindsTest, RefusesWhatIsNoProgram) {
  EXPECT_EQ(RuntimeBinds("/nonexistent/program").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(RuntimeBinds("relative").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(RuntimeBinds("/etc/passwd").error().code(), ErrorCode::kInvalidArgument);
}

TEST(ParseLoaderListTest, TakesPathsAndLeavesTheKernelsLibraryOut) {
  const auto paths = ParseLoaderList(
      "\tlinux-vdso.so.1 (0x00007ff491c57000)\n"
      "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007ff491a52000)\n"
      "\tlibx.so => /opt/with space/lib/../libx.so (0x00007ff491a52000)\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007ff491c59000)\n");
  ASSERT_TRUE(paths.ok());
  EXPECT_THAT(*paths, testing::ElementsAre("/lib/x86_64-linux-gnu/libm.so.6", "/opt/with space/lib/../libx.so",
                                           "/lib64/ld-linux-x86-64.so.2"));
}

TEST(ParseLoaderListTest, AMissingLibraryIsAnError) {
  const auto missing = ParseLoaderList("\tlibnope.so => not found\n");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message(), HasSubstr("libnope.so"));
  EXPECT_FALSE(ParseLoaderList("ERROR: ld.so: object 'libgomp.so.1' from --preload cannot be preloaded\n").ok());
}

}  // namespace
}  // namespace touchstone

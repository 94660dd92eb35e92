// Real compilations in real boxes.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <set>
#include <thread>

#include "base/hash.h"
#include "base/memfd.h"
#include "tests/sandbox/build/pool_fixture.h"

namespace touchstone {
namespace {

using Kind = BuildOutcome::Kind;
using testing::HasSubstr;
using testing::Not;

using BuildPoolTest = PoolTest;

TEST_F(BuildPoolTest, AGoodSourceBecomesALoadableSealedArtifact) {
  const BuildOutcome outcome = Build(kGoodSource);
  ASSERT_EQ(outcome.kind, Kind::kBuilt) << outcome.log;
  EXPECT_FALSE(outcome.from_cache);
  EXPECT_TRUE(outcome.diagnostics.empty());
  EXPECT_EQ(outcome.artifact_hash, HashHex(*ReadAll(outcome.artifact.get(), 1 << 20)));
  EXPECT_LT(::pwrite(outcome.artifact.get(), "x", 1, 0), 0);

  void* library = ::dlopen(("/proc/self/fd/" + std::to_string(outcome.artifact.get())).c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  auto* run = reinterpret_cast<void (*)(const float*, float*, int64_t)>(::dlsym(library, "run"));
  ASSERT_NE(run, nullptr);
  const std::array<float, 3> x = {1, 2, 3};
  std::array<float, 3> y = {};
  run(x.data(), y.data(), 3);
  EXPECT_EQ(y, (std::array<float, 3>{2, 4, 6}));
  ::dlclose(library);
}

TEST_F(BuildPoolTest, TheSameRequestGivesTheSameBytes) {
  const std::string source =
      std::string("#include <cstdio>\nnamespace { const char* when = __DATE__ __TIME__ __FILE__; }\n") +
      "void run(const float*, float*, int64_t) { std::puts(when); }\n";
  const BuildOutcome first = Build(source);
  options_.cache_folder = folder_ + "/another";
  const BuildOutcome second = Build(source);
  ASSERT_EQ(first.kind, Kind::kBuilt) << first.log;
  EXPECT_FALSE(second.from_cache);
  EXPECT_EQ(first.artifact_hash, second.artifact_hash);
  EXPECT_EQ(first.key, second.key);
}

TEST_F(BuildPoolTest, TheCxxLibraryAndOpenMpAreThere) {
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  BuildRequest request = Request(
      "#include <omp.h>\n#include <cmath>\n#include <thread>\n#include <vector>\n"
      "void run(const float* x, float* y, int64_t n) {\n"
      "  std::vector<float> v(x, x + n);\n"
      "#pragma omp parallel for\n"
      "  for (int64_t i = 0; i < n; ++i) y[i] = std::exp(v[i]) + std::thread::hardware_concurrency();\n"
      "}\n"
      "#ifndef _OPENMP\n#error not with OpenMP\n#endif\n");
  const auto without = pool->Build(request);
  request.extra_flags = {"-fopenmp"};
  const auto with = pool->Build(request);
  ASSERT_TRUE(without.ok() && with.ok());
  EXPECT_EQ(without->kind, Kind::kCompileError);
  EXPECT_EQ(with->kind, Kind::kBuilt) << with->log;
  EXPECT_NE(without->key, with->key);
}

TEST_F(BuildPoolTest, ASyntaxErrorNamesFileAndLine) {
  const BuildOutcome outcome = Build("\n\nvoid run(const float* x, float* y, int64_t n) {\n  y[0] = foo(x[0]\n}\n");
  ASSERT_EQ(outcome.kind, Kind::kCompileError) << outcome.log;
  ASSERT_FALSE(outcome.diagnostics.empty());
  EXPECT_EQ(outcome.diagnostics[0].file, "candidate.cc");
  EXPECT_EQ(outcome.diagnostics[0].line, 4);
  EXPECT_EQ(outcome.diagnostics[0].severity, "error");
  EXPECT_THAT(outcome.log, HasSubstr("candidate.cc:4:"));
  EXPECT_THAT(outcome.log, Not(HasSubstr("/proc/")));
  EXPECT_FALSE(outcome.artifact.valid());
}

TEST_F(BuildPoolTest, AnErrorInTheTaskHeaderNamesTheHeader) {
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  BuildRequest request = Request(kGoodSource);
  request.header += "int x = ;\n";
  const auto outcome = pool->Build(request);
  ASSERT_TRUE(outcome.ok());
  ASSERT_EQ(outcome->kind, Kind::kCompileError);
  EXPECT_EQ(outcome->diagnostics[0].file, "task.h");
  EXPECT_EQ(outcome->diagnostics[0].line, 4);
}

TEST_F(BuildPoolTest, AMissingHeader) {
  const BuildOutcome outcome = Build(std::string("#include <nope.h>\n") + kGoodSource);
  ASSERT_EQ(outcome.kind, Kind::kCompileError);
  EXPECT_EQ(outcome.diagnostics[0].line, 1);
  EXPECT_THAT(outcome.diagnostics[0].message, HasSubstr("nope.h: No such file"));
}

TEST_F(BuildPoolTest, AnUndefinedSymbolIsACompileErrorAndNoSurpriseAtLoadTime) {
  const BuildOutcome outcome = Build("void foo(int);\nvoid run(const float*, float*, int64_t) { foo(3); }\n");
  ASSERT_EQ(outcome.kind, Kind::kCompileError) << outcome.log;
  EXPECT_EQ(outcome.diagnostics[0].message, "linker: undefined reference to `foo(int)'");
}

TEST_F(BuildPoolTest, AMissingOrMistypedEntryPointIsACompileError) {
  for (const char* source : {"void other() {}\n", "void run(const float*, double*, int64_t) {}\n",
                             "static int x;\nnamespace n { void run(const float*, float*, int64_t) {} }\n"}) {
    const BuildOutcome outcome = Build(source);
    ASSERT_EQ(outcome.kind, Kind::kCompileError) << source << outcome.log;
    EXPECT_THAT(outcome.diagnostics[0].message, HasSubstr("run")) << source;
  }
}

TEST_F(BuildPoolTest, ResultsAreRememberedAcrossPools) {
  const BuildOutcome built = Build(kGoodSource);
  ASSERT_EQ(built.kind, Kind::kBuilt) << built.log;
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  const auto again = pool->Build(Request(kGoodSource));
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->from_cache);
  EXPECT_EQ(again->kind, Kind::kBuilt);
  EXPECT_EQ(again->artifact_hash, built.artifact_hash);
  EXPECT_EQ(*ReadAll(again->artifact.get(), 1 << 20), *ReadAll(built.artifact.get(), 1 << 20));
  RecordProperty("cache_hit_us", static_cast<int>(again->wall.count()));
}

TEST_F(BuildPoolTest, CompileErrorsAreRemembered) {
  const BuildOutcome first = Build("int x = ;\n");
  const BuildOutcome second = Build("int x = ;\n");
  EXPECT_EQ(first.kind, Kind::kCompileError);
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.kind, Kind::kCompileError);
  ASSERT_FALSE(second.diagnostics.empty());
  EXPECT_EQ(second.diagnostics[0].message, first.diagnostics[0].message);
  EXPECT_EQ(second.log, first.log);
}

TEST_F(BuildPoolTest, EverythingThatDecidesTheBytesDecidesTheKey) {
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  const BuildRequest request = Request(kGoodSource);
  BuildRequest source = request;
  source.source += "\n";
  BuildRequest header = request;
  header.header += "\n";
  BuildRequest flags = request;
  flags.extra_flags = {"-ffast-math"};
  BuildRequest border = request;  // the same text, divided elsewhere
  border.source = border.header.back() + border.source;
  border.header.pop_back();
  std::set<std::string> keys;
  for (const BuildRequest& one : {request, source, header, flags, border}) {
    const auto outcome = pool->Build(one);
    ASSERT_TRUE(outcome.ok());
    keys.insert(outcome->key);
  }
  EXPECT_EQ(keys.size(), 5u);
}

TEST_F(BuildPoolTest, ADamagedEntryIsBuiltAgain) {
  const BuildOutcome first = Build(kGoodSource);
  ASSERT_EQ(first.kind, Kind::kBuilt);
  for (const auto& item : std::filesystem::directory_iterator(options_.cache_folder)) {
    std::fstream file(item.path(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-100, std::ios::end);
    file.put('\x55').put('\xAA').put('\x55').put('\xAA');
  }
  const BuildOutcome second = Build(kGoodSource);
  EXPECT_EQ(second.kind, Kind::kBuilt);
  EXPECT_FALSE(second.from_cache);
  EXPECT_EQ(second.artifact_hash, first.artifact_hash);
  EXPECT_TRUE(Build(kGoodSource).from_cache);
}

TEST_F(BuildPoolTest, ThreadsShareOneCompilation) {
  constexpr int kThreads = 4;
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const auto outcome = pool->Build(Request(std::string("#include <algorithm>\n") + kGoodSource));
      good += outcome.ok() && outcome->kind == Kind::kBuilt && outcome->artifact.valid() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, kThreads);
  size_t entries = 0;
  for ([[maybe_unused]] const auto& item : std::filesystem::directory_iterator(options_.cache_folder)) ++entries;
  EXPECT_EQ(entries, 1u);
}

TEST_F(BuildPoolTest, ThreadsBuildDifferentSourcesAtTheSameTime) {
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string source = t % 2 == 0 ? kGoodSource + std::string(static_cast<size_t>(t), '\n') : "int x = ;";
      const auto outcome = pool->Build(Request(source));
      right += outcome.ok() && outcome->kind == (t % 2 == 0 ? Kind::kBuilt : Kind::kCompileError) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
}

TEST_F(BuildPoolTest, RefusesFlagsThatNameFilesPluginsOrPrograms) {
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  for (const char* flag : {"-fplugin=evil", "@file", "-B/tmp", "-o", "-specs=x", "-wrapper", "x.cc",
                           "-fdump-tree-all=/x", "-Wl,-T,script", ""}) {
    BuildRequest request = Request(kGoodSource);
    request.extra_flags = {flag};
    const auto outcome = pool->Build(request);
    ASSERT_FALSE(outcome.ok()) << flag;
    EXPECT_EQ(outcome.error().code(), ErrorCode::kInvalidArgument) << flag;
  }
}

TEST_F(BuildPoolTest, RefusesInterfacesThatItCannotBuild) {
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  BuildRequest request = Request(kGoodSource);
  request.interface_name = "cuda";
  EXPECT_EQ(pool->Build(request).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(BuildPoolTest, WorksAtTheReducedLevel) {
  options_.minimum_level = Level::kReduced;
  const LayerSet reduced = LayersOf(Level::kReduced);
  for (int i = 0; i < kLayerCount; ++i) {
    if (!reduced.Has(static_cast<Layer>(i))) options_.disable_for_tests.Add(static_cast<Layer>(i));
  }
  const BuildOutcome good = Build(kGoodSource);
  EXPECT_EQ(good.kind, Kind::kBuilt) << good.log;
  const BuildOutcome bad = Build("int x = ;\n");
  ASSERT_EQ(bad.kind, Kind::kCompileError) << bad.log;
  EXPECT_EQ(bad.diagnostics[0].file, "candidate.cc");
  const BuildOutcome hostile = Build("#include \"/etc/shadow\"\n");
  ASSERT_EQ(hostile.kind, Kind::kCompileError) << hostile.log;
  EXPECT_THAT(hostile.diagnostics[0].message, HasSubstr("/etc/shadow: Permission denied"));
}

TEST_F(BuildPoolTest, NamesItsToolchain) {
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  EXPECT_THAT(pool->toolchain(), HasSubstr("g++"));
  EXPECT_THAT(pool->toolchain(), HasSubstr("ld"));
  EXPECT_THAT(pool->toolchain(), HasSubstr("glibc"));
}

}  // namespace
}  // namespace touchstone

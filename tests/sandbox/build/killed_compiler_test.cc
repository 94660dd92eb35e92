// Somebody kills parts of a build from outside: never a wrong outcome, never a remembered one.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "tests/sandbox/build/pool_fixture.h"

namespace touchstone {
namespace {

using Kind = BuildOutcome::Kind;
namespace fs = std::filesystem;

// Takes some hundred milliseconds to compile: long enough to be found and killed.
constexpr char kSlowSource[] =
    "template <int D, long N> struct F { static constexpr long v = F<D - 1, 2 * N>::v + F<D - 1, 2 * N + 1>::v; };\n"
    "template <long N> struct F<0, N> { static constexpr long v = N; };\n"
    "void run(const float*, float* y, int64_t) { y[0] = F<13, 1>::v; }\n";

std::string CommandLine(const fs::path& process) {
  std::ifstream in(process / "cmdline", std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Processes whose command line has all of `parts`.
std::vector<pid_t> Find(std::initializer_list<std::string> parts) {
  std::vector<pid_t> found;
  for (const auto& item : fs::directory_iterator("/proc")) {
    const std::string name = item.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string line = CommandLine(item.path());
    const bool all = std::all_of(parts.begin(), parts.end(),
                                 [&](const std::string& part) { return line.find(part) != std::string::npos; });
    if (all) found.push_back(std::stoi(name));
  }
  return found;
}

class KilledCompilerTest : public PoolTest {
 protected:
  // Builds the slow source. `kill` is called again and again while cc1plus works on it, until it says that it is done.
  Result<BuildOutcome> BuildWhile(BuildPool& pool, const std::function<bool(pid_t compiler)>& kill) {
    BuildRequest request = Request(kSlowSource);
    request.extra_flags = {"-D" + Marker()};
    std::atomic<bool> built = false;
    std::thread killer([&] {
      while (!killed_all_ && !built) {
        const std::vector<pid_t> compilers = Find({"cc1plus", Marker()});
        if (compilers.empty()) {
          std::this_thread::yield();
        } else {
          killed_all_ = kill(compilers[0]);
        }
      }
    });
    auto outcome = pool.Build(request);
    built = true;
    killer.join();
    return outcome;
  }

  // Kills so many different compilers, one after the other.
  static std::function<bool(pid_t)> KillCompilers(int count) {
    return [count, last = pid_t{0}](pid_t compiler) mutable {
      if (compiler != last && ::kill(compiler, SIGKILL) == 0) {
        last = compiler;
        --count;
      }
      return count == 0;
    };
  }
  static std::string Marker() { return "TEST_OF_PROCESS_" + std::to_string(::getpid()); }
  bool killed_all_ = false;
};

TEST_F(KilledCompilerTest, ACompilerKilledOnceIsRunAgain) {
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  const auto outcome = BuildWhile(*pool, KillCompilers(1));
  ASSERT_TRUE(killed_all_) << "nothing was killed: the test proves nothing";
  ASSERT_TRUE(outcome.ok()) << outcome.error().ToString();
  EXPECT_EQ(outcome->kind, Kind::kBuilt) << outcome->log;
}

TEST_F(KilledCompilerTest, ACompilerKilledTwiceIsACrashThatNobodyRemembers) {
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  const auto outcome = BuildWhile(*pool, KillCompilers(2));
  ASSERT_TRUE(killed_all_);
  ASSERT_TRUE(outcome.ok()) << outcome.error().ToString();
  EXPECT_EQ(outcome->kind, Kind::kCrashed) << outcome->log;
  BuildRequest request = Request(kSlowSource);
  request.extra_flags = {"-D" + Marker()};
  const auto again = pool->Build(request);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->kind, Kind::kBuilt);
  EXPECT_FALSE(again->from_cache);
}

TEST_F(KilledCompilerTest, ADeadSpawnerIsOurFailureAndNotTheCandidates) {
  const auto pool = NewPool();
  ASSERT_NE(pool, nullptr);
  const auto outcome = BuildWhile(*pool, [](pid_t) {
    // The spawner, its warm processes and the inits of its boxes have the same command line.
    const std::vector<pid_t> spawner = Find({"touchstone-spawner", std::to_string(::getpid())});
    for (const pid_t pid : spawner) ::kill(pid, SIGKILL);
    return !spawner.empty();
  });
  ASSERT_TRUE(killed_all_);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code(), ErrorCode::kUnavailable) << outcome.error().ToString();
  EXPECT_TRUE(fs::is_empty(options_.cache_folder));
  EXPECT_EQ(Build(kGoodSource).kind, Kind::kBuilt) << "the next spawner works";
}

}  // namespace
}  // namespace touchstone

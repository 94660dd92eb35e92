// Whatever dies in the middle of an evaluation: right candidates are never called wrong, wrong ones never right, the
// next evaluation works, and nothing is left behind. Only descendants of this process are killed.
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "sandbox/box/owner_name.h"
#include "sandbox/box/spawner.h"
#include "tests/hostile/process_tree.h"
#include "tests/hostile/slot.h"

namespace touchstone {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kStorm{15'000};

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

// What the descriptors of this process are, memfds above all.
std::multiset<std::string> OpenFiles() {
  std::multiset<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    // Sockets and pipes have numbers; the folder that is read here has one, too.
    target = target.substr(0, target.find(':'));
    if (!gone && !target.starts_with("/proc/")) files.insert(target);
  }
  return files;
}

// Kills with -9 what has the given role, at a random moment of its life.
class Killer {
 public:
  // One kill, or, `endless`, one after the other until Stop().
  Killer(std::vector<Role> roles, bool endless, milliseconds longest_wait, uint32_t seed)
      : roles_(std::move(roles)), endless_(endless), longest_wait_(longest_wait), random_(seed), thread_([this] {
          Hunt();
        }) {}
  ~Killer() { Stop(); }
  int Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return kills_;
  }
  // Every spawner that was ever seen, for those who look for what they left.
  static std::set<pid_t>& Spawners() {
    static std::set<pid_t> spawners;
    return spawners;
  }

 private:
  void Hunt() {
    std::this_thread::sleep_for(longest_wait_ * (random_() % 100) / 100);
    while (!stop_) {
      const Role role = roles_[random_() % roles_.size()];
      std::vector<pid_t> prey;
      for (const FoundProcess& found : Descendants()) {
        if (found.role == Role::kSpawner) Spawners().insert(found.pid);
        if (found.role == role && !found.zombie) prey.push_back(found.pid);
      }
      if (!prey.empty()) {
        ::kill(prey[random_() % prey.size()], SIGKILL);
        ++kills_;
        if (!endless_) return;
        ::usleep(random_() % 400'000);
      }
      ::usleep(2'000);
    }
  }

  std::vector<Role> roles_;
  bool endless_;
  milliseconds longest_wait_;
  std::minstd_rand random_;
  std::atomic<bool> stop_{false};
  std::atomic<int> kills_{0};
  std::thread thread_;
};

class ChaosTest : public ::testing::Test {
 protected:
  void SetUp() override {
    AdoptOrphans();
    mounts_ = ReadText("/proc/self/mounts");
    files_ = OpenFiles();
    auto task = FindTask("add");
    ASSERT_TRUE(task.ok()) << task.error().ToString();
    task_ = std::move(*task);
    cache_.emplace();
    auto evaluator = Evaluator::Create(SlotOptions(*cache_));
    ASSERT_TRUE(evaluator.ok()) << evaluator.error().ToString();
    evaluator_ = std::move(*evaluator);
    RememberSpawners();
  }

  void TearDown() override {
    RememberSpawners();
    evaluator_.reset();
    cache_.reset();
    EXPECT_TRUE(Eventually([] {
      ReapOrphans();
      return Descendants().empty();
    })) << "left: "
        << Left();
    // What a killed spawner could not clean up, the next one does.
    EXPECT_TRUE(Eventually([] {
      { (void)Spawner::Launch(std::string(TOUCHSTONE_BIN) + "/touchstone-spawner"); }
      ReapOrphans();
      return Groups() == 0;
    })) << Groups()
        << " control groups are left";
    EXPECT_TRUE(Eventually([] {
      ReapOrphans();
      return Descendants().empty();
    })) << "left: "
        << Left();
    EXPECT_EQ(ReadText("/proc/self/mounts"), mounts_);
    EXPECT_EQ(OpenFiles(), files_);
  }

  template <typename Condition>
  static bool Eventually(Condition condition) {
    const auto deadline = Clock::now() + milliseconds(15'000);
    while (!condition()) {
      if (Clock::now() > deadline) return false;
      ::usleep(20'000);
    }
    return true;
  }

  static std::string Left() {
    std::string text;
    for (const FoundProcess& found : Descendants()) {
      text += found.name + " (" + std::to_string(found.pid) + (found.zombie ? ", a zombie) " : ") ");
    }
    return text;
  }

  static void RememberSpawners() {
    for (const FoundProcess& found : Descendants()) {
      if (found.role == Role::kSpawner) Killer::Spawners().insert(found.pid);
    }
  }

  // Control groups of spawners that this test has started.
  static int Groups() {
    int count = 0;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at("/sys/fs/cgroup", error), end; at != end;
         at.increment(error)) {
      const std::string name = at->path().filename();
      if (!IsOwnerName(name)) continue;
      for (const pid_t pid : Killer::Spawners()) {
        count += name.find("." + std::to_string(pid) + ".") != std::string::npos ? 1 : 0;
      }
    }
    return count;
  }

  // With a comment of its own a source is compiled anew.
  EvalResult Evaluate(const std::string& file, std::optional<int> fresh) {
    std::string source = CandidateSource(file);
    if (fresh) source += "// " + std::to_string(*fresh) + "\n";
    auto result = evaluator_->Evaluate(MakeRequest(task_, source, false));
    EXPECT_TRUE(result.ok()) << result.error().ToString();
    return result.ok() ? std::move(*result) : EvalResult();
  }

  void ExpectUndisturbed() {
    const EvalResult right = Evaluate("honest_add", std::nullopt);
    EXPECT_EQ(right.status, EvalStatus::kSuccess) << Describe(right);
    const EvalResult wrong = Evaluate("one_wrong_element", std::nullopt);
    EXPECT_EQ(wrong.status, EvalStatus::kIncorrect) << Describe(wrong);
  }

  std::string mounts_;
  std::multiset<std::string> files_;
  Task task_;
  std::optional<CacheFolder> cache_;
  std::unique_ptr<Evaluator> evaluator_;
};

// One death in an evaluation is made up for, or called what it is.
TEST_F(ChaosTest, OneDeathNeverChangesAVerdict) {
  ExpectUndisturbed();
  uint32_t seed = 1;
  for (const Role role :
       {Role::kJudge, Role::kSpawner, Role::kCandidate, Role::kReference, Role::kBoxInit, Role::kCompiler}) {
    for (const bool honest : {true, false}) {
      SCOPED_TRACE("role " + std::to_string(static_cast<int>(role)) + (honest ? " honest" : " wrong"));
      int kills = 0;
      // Sooner each time: an evaluation may be over before its killer wakes.
      for (milliseconds wait{320}; kills == 0 && wait.count() > 0; wait /= 2) {
        Killer killer({role}, false, wait, ++seed);
        const EvalResult result = Evaluate(honest ? "honest_add" : "one_wrong_element", static_cast<int>(seed));
        kills = killer.Stop();
        const EvalStatus verdict = honest ? EvalStatus::kSuccess : EvalStatus::kIncorrect;
        EXPECT_TRUE(result.status == verdict || result.status == EvalStatus::kEnvironmentError) << Describe(result);
      }
      EXPECT_EQ(kills, 1) << "the control: nothing was hit";
    }
    ExpectUndisturbed();
  }
}

// Many deaths: a candidate may be blamed for its own process's, but right and wrong are never exchanged.
TEST_F(ChaosTest, AStormOfDeathsNeverExchangesRightAndWrong) {
  const auto end = Clock::now() + kStorm;
  int evaluations = 0;
  int kills = 0;
  for (uint32_t seed = 100; Clock::now() < end; ++seed) {
    Killer killer({Role::kJudge, Role::kSpawner, Role::kCandidate, Role::kReference, Role::kBoxInit, Role::kCompiler},
                  true, milliseconds(300), seed);
    const bool honest = seed % 2 == 0;
    std::string source = CandidateSource(honest ? "honest_add" : "one_wrong_element");
    if (seed % 4 < 2) source += "// " + std::to_string(seed) + "\n";
    const auto result = evaluator_->Evaluate(MakeRequest(task_, source, false));
    kills += killer.Stop();
    ++evaluations;
    if (!result.ok()) {
      EXPECT_EQ(result.error().code(), ErrorCode::kUnavailable) << result.error().ToString();
      continue;
    }
    const std::set<EvalStatus> possible = {honest ? EvalStatus::kSuccess : EvalStatus::kIncorrect,
                                           EvalStatus::kEnvironmentError, EvalStatus::kRuntimeError,
                                           EvalStatus::kLoadError, EvalStatus::kCompileError};
    EXPECT_TRUE(possible.contains(result->status)) << Describe(*result);
  }
  EXPECT_GT(kills, evaluations / 2);
  ExpectUndisturbed();
}

}  // namespace
}  // namespace touchstone

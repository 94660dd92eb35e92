#ifndef TOUCHSTONE_TESTS_SANDBOX_BOX_BOX_FIXTURE_H_
#define TOUCHSTONE_TESTS_SANDBOX_BOX_BOX_FIXTURE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/sandbox.h"
#include "tests/hostile/box/attack.h"
#include "tests/sandbox/box/threat_world.h"

namespace touchstone {

constexpr LayerSet Layers(std::initializer_list<Layer> layers) {
  LayerSet set;
  for (Layer layer : layers) set.Add(layer);
  return set;
}

inline constexpr LayerSet kNamespaces = Layers({Layer::kPidNamespace, Layer::kNetNamespace, Layer::kIpcNamespace,
                                                Layer::kMountNamespace, Layer::kUtsNamespace, Layer::kUserNamespace});
inline constexpr LayerSet kGroups =
    Layers({Layer::kMemoryCgroup, Layer::kPidsCgroup, Layer::kCpuAccounting, Layer::kFreezer, Layer::kCpuSet});

// Everything up to the end of file, at most `limit` bytes.
inline std::string Drain(int fd, size_t limit = 1 << 20) {
  std::string text;
  char part[4096];
  while (text.size() < limit) {
    const ssize_t got = ::read(fd, part, sizeof(part));
    if (got <= 0) break;
    text.append(part, static_cast<size_t>(got));
  }
  return text;
}

// Polls `condition` until it holds; false after `timeout`.
template <typename Condition>
bool Eventually(Condition condition, std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::usleep(500);
  }
  return true;
}

// One spawner and one world of targets for all tests of a program.
class BoxTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = new ThreatWorld;
    auto spawner = Spawner::Launch();
    ASSERT_TRUE(spawner.ok()) << spawner.error().ToString();
    spawner_ = new Spawner(std::move(spawner).value());
  }
  static void TearDownTestSuite() {
    delete spawner_;
    spawner_ = nullptr;
    delete world_;
    world_ = nullptr;
  }
  void TearDown() override { world_->Forget(); }

  static Policy SystemPolicy() {
    Policy policy;
    for (const char* folder : {"/usr", "/lib", "/lib64", "/bin"}) policy.binds.push_back({folder, "", true});
    return policy;
  }
  static Policy ShellPolicy() {
    Policy policy = SystemPolicy();
    policy.allow_exec = true;
    return policy;
  }
  static Program Shell(const std::string& script) {
    Program program;
    program.argv = {"/bin/sh", "-c", script};
    program.environment = {"PATH=/usr/bin:/bin"};
    program.capture_output = true;
    return program;
  }

  // A policy for attacks: the hostile program and nothing else; not refused when layers are left out.
  static Policy HostilePolicy(LayerSet disabled = LayerSet()) {
    Policy policy;
    policy.binds.push_back({world_->folder() + "/hostile", "", false});
    policy.disable_for_tests = disabled;
    policy.minimum_level = disabled.empty() ? Level::kFull : Level::kNone;
    return policy;
  }
  static Program Attack(std::initializer_list<const char*> attack) {
    Program program;
    program.argv = {world_->folder() + "/hostile"};
    for (const char* argument : attack) program.argv.push_back(world_->Fill(argument));
    program.capture_output = true;
    return program;
  }
  // Runs an attack to its end: its output and how it ended.
  struct Ending {
    std::string output;
    Outcome outcome;
  };
  static Ending Run(const Policy& policy, const Limits& limits, const Program& program, std::span<const int> fds = {}) {
    Ending ending;
    auto box = spawner_->Start(policy, limits, program, fds);
    EXPECT_TRUE(box.ok()) << box.error().ToString();
    if (!box.ok()) return ending;
    ending.output = Drain(box->stdout_fd());
    const auto outcome = box->Wait(std::chrono::seconds(20));
    EXPECT_TRUE(outcome.ok()) << outcome.error().ToString();
    if (outcome.ok()) ending.outcome = *outcome;
    EXPECT_TRUE(box->Destroy().ok());
    return ending;
  }
  static Ending RunAttack(std::initializer_list<const char*> attack, LayerSet disabled = LayerSet(),
                          const Limits& limits = Limits()) {
    return Run(HostilePolicy(disabled), limits, Attack(attack));
  }

  static inline Spawner* spawner_ = nullptr;
  static inline ThreatWorld* world_ = nullptr;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_SANDBOX_BOX_BOX_FIXTURE_H_

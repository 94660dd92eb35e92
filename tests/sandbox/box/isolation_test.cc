// Threats that need more than one run, a special spawner, or a look at the host first.
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/channel.h"
#include "sandbox/box/probe.h"
#include "tests/sandbox/box/box_fixture.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// Runs an attack as a plain process of the test's user: its exit code.
int RunOutside(const Program& program) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::vector<char*> argv;
    for (const std::string& argument : program.argv) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::execv(argv[0], argv.data());
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(BoxTest, Row13_InitCannotBeKilled) {
  for (const char* attack : {"kill-init", "kill-all"}) {
    const Ending ending = RunAttack({attack});
    EXPECT_EQ(ending.outcome.kind, Outcome::Kind::kExited) << attack;
    EXPECT_EQ(ending.outcome.code, kStopped) << ending.output;
  }
}

TEST_F(BoxTest, Row14_InitCannotBeInspected) {
  EXPECT_EQ(RunAttack({"inspect-init"}).outcome.code, kStopped);
  // Its uid, its place in the pid namespace and the filter are not needed for it: init is not dumpable.
  EXPECT_EQ(RunAttack({"inspect-init"}, Layers({Layer::kOwnUid, Layer::kSeccomp, Layer::kLandlock})).outcome.code,
            kStopped);
  EXPECT_EQ(RunOutside(Attack({"inspect-init"})), kSucceeded);
}

TEST_F(BoxTest, Row15_NoRealTimeAndNoHigherPriority) {
  EXPECT_EQ(RunAttack({"real-time"}).outcome.code, kStopped);
  EXPECT_EQ(RunOutside(Attack({"real-time"})), kSucceeded);
}

// Interfaces that some hosts refuse to everybody; where this one does, there is nothing to show.
class OptionalInterface : public BoxTest, public ::testing::WithParamInterface<std::vector<const char*>> {};

TEST_P(OptionalInterface, IsClosedByTheFilterAlone) {
  Program program = Attack({});
  for (const char* argument : GetParam()) program.argv.emplace_back(argument);
  if (RunOutside(program) != kSucceeded) GTEST_SKIP() << "this host refuses it to everybody";
  EXPECT_EQ(Run(HostilePolicy(), Limits(), program).outcome.code, kStopped);
  const LayerSet filter = Layers({Layer::kSeccomp, Layer::kLandlock});
  EXPECT_EQ(Run(HostilePolicy(filter), Limits(), program).outcome.code, kSucceeded);
}

INSTANTIATE_TEST_SUITE_P(Row17_Vsock, OptionalInterface, ::testing::Values(std::vector<const char*>{"socket", "40"}));
INSTANTIATE_TEST_SUITE_P(Row19_IoUring, OptionalInterface, ::testing::Values(std::vector<const char*>{"io-uring"}));
INSTANTIATE_TEST_SUITE_P(Userfaultfd, OptionalInterface, ::testing::Values(std::vector<const char*>{"userfaultfd"}));

TEST_F(BoxTest, Row20_SysvMemoryDoesNotOutliveABox) {
  const LayerSet filter = Layers({Layer::kSeccomp});
  const LayerSet both = Layers({Layer::kSeccomp, Layer::kIpcNamespace});
  ASSERT_EQ(RunAttack({"store-sysv", "{key}"}, filter).outcome.code, kSucceeded);
  EXPECT_EQ(RunAttack({"find-sysv", "{key}"}, filter).outcome.code, kStopped);
  ASSERT_EQ(RunAttack({"store-sysv", "{key}"}, both).outcome.code, kSucceeded);
  EXPECT_EQ(RunAttack({"find-sysv", "{key}"}, both).outcome.code, kSucceeded) << "the control";
}

TEST_F(BoxTest, Row28_NothingIsInherited) {
  const UniqueFd leaked(::open("/dev/null", O_RDONLY));  // not close-on-exec: the spawner gets it
  auto spawner = Spawner::Launch();
  ASSERT_TRUE(spawner.ok());
  for (const bool stopped : {true, false}) {
    const Policy policy = HostilePolicy(stopped ? LayerSet() : Layers({Layer::kCloseOnExec}));
    auto box = spawner->Start(policy, Limits(), Attack({"inherited-fds", "0"}));
    ASSERT_TRUE(box.ok());
    const std::string output = Drain(box->stdout_fd());
    EXPECT_EQ(box->Wait(seconds(10))->code, stopped ? kStopped : kSucceeded) << output;
  }
}

TEST_F(BoxTest, Row29_TheEnvironmentIsMadeFromNothing) {
  ::setenv("SECRET_OF_THE_TEST", "1", 1);
  Program program = Attack({"environment", "PATH=/usr/bin"});
  EXPECT_EQ(RunOutside(program), kSucceeded) << "the control";
  program.environment = {"PATH=/usr/bin"};
  EXPECT_EQ(Run(HostilePolicy(), Limits(), program).outcome.code, kStopped);
}

TEST_F(BoxTest, Row35_NoDevicesAndNoLinksToTheHost) {
  EXPECT_EQ(RunAttack({"make-device", "x"}).outcome.code, kStopped);
  Program outside = Attack({"make-device", "{folder}/open/device"});
  EXPECT_EQ(RunOutside(outside), kSucceeded) << "the control";
  auto box = spawner_->Start(ShellPolicy(), Limits(), Shell("ln -s /proc/1/root/etc/passwd link"));
  ASSERT_TRUE(box.ok());
  ASSERT_TRUE(box->Wait(seconds(10)).ok());
  EXPECT_FALSE(box->TakeArtifact("link", 1 << 20).ok());
}

TEST_F(BoxTest, Row40_FilesDoNotOutliveABox) {
  ASSERT_EQ(RunAttack({"write", "/tmp/marker", "/dev/shm/marker"}).outcome.code, kSucceeded);
  EXPECT_EQ(RunAttack({"look-for-marker", "/tmp/marker", "/dev/shm/marker"}).outcome.code, kStopped);
  const LayerSet files = Layers({Layer::kMountNamespace, Layer::kLandlock});
  ASSERT_EQ(RunAttack({"write", "{folder}/open/marker"}, files).outcome.code, kSucceeded);
  EXPECT_EQ(RunAttack({"look-for-marker", "{folder}/open/marker"}, files).outcome.code, kSucceeded) << "the control";
}

TEST_F(BoxTest, Row48_AWrongSystemCallTableIsAViolationNotACrash) {
  const Outcome outcome = RunAttack({"x32"}).outcome;
  EXPECT_EQ(outcome.kind, Outcome::Kind::kSignalled);
  EXPECT_EQ(outcome.signal, SIGSYS);
  EXPECT_EQ(RunAttack({"x32"}, Layers({Layer::kSeccomp})).outcome.kind, Outcome::Kind::kExited);
}

TEST_F(BoxTest, Row49_AMissingLayerOfTheLevelIsRefusedByName) {
  for (const Level level : {Level::kFull, Level::kReduced}) {
    for (int i = 0; i < kLayerCount; ++i) {
      const auto layer = static_cast<Layer>(i);
      if (!LayersOf(level).Has(layer)) continue;
      Policy policy = HostilePolicy();
      policy.minimum_level = level;
      policy.disable_for_tests.Add(layer);
      // So that the level asked for is the highest that could be reached.
      if (level == Level::kReduced) policy.disable_for_tests.Add(Layer::kOwnUid);
      const auto box = spawner_->Start(policy, Limits(), Attack({"am-i-root"}));
      ASSERT_FALSE(box.ok()) << ToString(layer);
      EXPECT_EQ(box.error().code(), ErrorCode::kUnavailable);
      EXPECT_NE(box.error().message().find(ToString(layer)), std::string::npos) << box.error().message();
    }
  }
}

TEST_F(BoxTest, Row49_ABoxSaysWhichLayersItHas) {
  for (const LayerSet disabled : {Layers({Layer::kSeccomp}), kNamespaces, kGroups, kNamespaces | kGroups}) {
    const auto box = spawner_->Start(HostilePolicy(disabled), Limits(), Attack({"am-i-root"}));
    ASSERT_TRUE(box.ok());
    for (const std::string& name : disabled.Names()) EXPECT_FALSE(box->layers().Has(*LayerFromString(name))) << name;
  }
}

TEST_F(BoxTest, ProcIsThereOnlyWhenThePolicySaysSo) {
  Policy policy = HostilePolicy();
  EXPECT_EQ(Run(policy, Limits(), Attack({"read", "/proc/self/stat"})).outcome.code, kSucceeded);
  policy.mount_proc = false;
  EXPECT_EQ(Run(policy, Limits(), Attack({"read", "/proc/self/stat"})).outcome.code, kStopped);
}

// A hostile tree in the private folder of a box without a mount namespace: locked folders, links to the host, depth.
TEST_F(BoxTest, PrivateFoldersGoWithTheirBoxWhateverIsInThem) {
  Policy policy = ShellPolicy();
  policy.minimum_level = Level::kNone;
  policy.disable_for_tests = kNamespaces | Layers({Layer::kLandlock});
  Program program = Shell("pwd; ln -s " + world_->folder() +
                          "/open link; mkdir -p a/b/c locked/in; touch a/b/c/f locked/in/f; chmod 0 locked/in locked;"
                          "d=.; i=0; while [ $i -lt 300 ]; do mkdir deep; cd deep; i=$((i+1)); done; touch end");
  auto box = spawner_->Start(policy, Limits(), program);
  ASSERT_TRUE(box.ok()) << box.error().ToString();
  std::string folder = Drain(box->stdout_fd());
  folder.resize(folder.find('\n'));
  const auto outcome = box->Wait(seconds(20));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->code, 0) << Drain(box->stderr_fd());
  EXPECT_TRUE(fs::exists(folder)) << "kept for TakeArtifact";
  EXPECT_TRUE(box->Destroy().ok());
  EXPECT_TRUE(Eventually([&] { return !fs::exists(folder); }));
  EXPECT_TRUE(fs::exists(world_->folder() + "/open")) << "links are not followed";
}

TEST_F(BoxTest, TheHonestTwinRuns) {
  Program program = Shell("cat /etc/missing || true; echo 6 > n; expr $(cat n) \\* 7");
  EXPECT_EQ(Run(ShellPolicy(), Limits(), program).output, "42\n");
  Policy reduced = ShellPolicy();
  reduced.minimum_level = Level::kReduced;
  reduced.disable_for_tests = kNamespaces | kGroups;
  EXPECT_EQ(Run(reduced, Limits(), program).output, "42\n");
}

TEST_F(BoxTest, TheProbeAgreesWithTheSpawner) {
  const auto reports = ProbeHost();
  ASSERT_EQ(reports.size(), static_cast<size_t>(kLayerCount));
  EXPECT_EQ(LevelOf(reports), Level::kFull);
  for (const LayerReport& report : reports) {
    EXPECT_TRUE(report.available || !report.remedy.empty()) << ToString(report.layer);
  }
}

// Runs `body` in a child that is user 65534; it returns what went wrong.
std::string AsNobody(const std::function<std::string()>& body) {
  auto channel = ChannelPair();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool changed =
        ::setgroups(0, nullptr) == 0 && ::setresgid(65534, 65534, 65534) == 0 && ::setresuid(65534, 65534, 65534) == 0;
    std::string said = changed ? body() : "setresuid failed";
    (void)Send(channel->second.get(), said.empty() ? "fine" : said);
    ::_exit(0);
  }
  const auto message = Receive(channel->first.get(), seconds(60));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return message.ok() ? message->bytes : message.error().ToString();
}

// A user without any right gets boxes too: namespaces in a user namespace where the host allows them, and always the
// level `reduced`.
TEST_F(BoxTest, WithoutRootBoxesAreReduced) {
  const std::string spawner_path = world_->folder() + "/spawner";  // where that user can reach it
  fs::copy_file(fs::read_symlink("/proc/self/exe").parent_path() / "touchstone-spawner", spawner_path,
                fs::copy_options::overwrite_existing);
  const auto check = [&](LayerSet disabled) {
    return AsNobody([&]() -> std::string {
      auto spawner = Spawner::Launch(spawner_path);
      if (!spawner.ok()) return spawner.error().ToString();
      Policy policy = HostilePolicy();
      const auto full = spawner->Start(policy, Limits(), Attack({"am-i-root"}));
      if (full.ok() || full.error().code() != ErrorCode::kUnavailable) return "full was not refused";
      policy.minimum_level = Level::kReduced;
      policy.disable_for_tests = disabled;
      const auto attack = [&](std::initializer_list<const char*> words, int expected) -> std::string {
        auto box = spawner->Start(policy, Limits(), Attack(words));
        if (!box.ok()) return box.error().ToString();
        const std::string output = Drain(box->stdout_fd());
        const auto outcome = box->Wait(seconds(20));
        if (!outcome.ok()) return outcome.error().ToString();
        return outcome->code == expected ? "" : output + outcome->ToString();
      };
      for (const auto& words : {std::initializer_list<const char*>{"read", "{folder}/secret"},
                                {"write", "{folder}/open/x"},
                                {"kill", "{victim}"},
                                {"connect-tcp", "{port}"},
                                {"connect-abstract", "{socket}"},
                                {"user-namespace"},
                                {"inspect-init"},
                                {"kill-init"}}) {
        const std::string wrong = attack(words, kStopped);
        if (!wrong.empty()) return wrong;
      }
      const std::string wrong = attack({"write", "x"}, kSucceeded);
      if (!wrong.empty()) return wrong;
      auto box = spawner->Start(policy, Limits(), Attack({"daemon"}));
      if (!box.ok()) return box.error().ToString();
      const auto outcome = box->Wait(seconds(20));
      return outcome.ok() && outcome->leftover_processes == 1 ? "" : "the daemon was not seen";
    });
  };
  EXPECT_EQ(check(LayerSet()), "fine");
  EXPECT_EQ(check(kNamespaces), "fine");
}

}  // namespace
}  // namespace touchstone

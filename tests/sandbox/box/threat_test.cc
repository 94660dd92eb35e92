// The threat table: each attack in a whole box, in a box without the layers that stop it (where it must succeed, or the
// attack proves nothing), and in a box of level `reduced`, where some of them are known to succeed.
//
// The names of the tests are the rows of docs/sandbox.md.
#include <signal.h>

#include <ostream>

#include "tests/sandbox/box/box_fixture.h"

namespace touchstone {
namespace {

using std::chrono::seconds;

enum class InReduced { kStopped, kOpen };

struct Threat {
  const char* name;  // row of the threat table, what it is
  std::vector<const char*> attack;
  LayerSet walls;  // the attack succeeds without all of these
  InReduced reduced = InReduced::kStopped;
  Limits limits = {};
};

std::ostream& operator<<(std::ostream& stream, const Threat& threat) { return stream << threat.name; }

Limits Small() {
  Limits limits;
  limits.memory_bytes = uint64_t{48} << 20;
  limits.processes = 16;
  limits.cpu_time = seconds(1);
  limits.file_bytes = uint64_t{4} << 20;
  limits.tmp_bytes = uint64_t{8} << 20;
  limits.tmp_inodes = 64;
  return limits;
}

const std::vector<Threat>& Threats() {
  using L = Layer;
  static const LayerSet files = Layers({L::kMountNamespace, L::kLandlock});
  static const LayerSet root_files = Layers({L::kMountNamespace, L::kLandlock, L::kOwnUid});
  static const LayerSet other_process =
      Layers({L::kPidNamespace, L::kOwnUid, L::kMountNamespace, L::kLandlock, L::kSeccomp});
  static const LayerSet count = Layers({L::kPidsCgroup, L::kResourceLimits});
  static const LayerSet memory = Layers({L::kMemoryCgroup, L::kResourceLimits});
  static const LayerSet filter = Layers({L::kSeccomp});
  static const std::vector<Threat> threats = {
      {"Row01_ForkBomb", {"fork-bomb", "100"}, count, InReduced::kStopped, Small()},
      {"Row02_ThreadBomb", {"thread-bomb", "100"}, count, InReduced::kStopped, Small()},
      {"Row03_MemoryBomb", {"memory", "96"}, memory, InReduced::kStopped, Small()},
      {"Row04_SharedMemoryBomb", {"shared-memory", "96"}, memory, InReduced::kOpen, Small()},
      {"Row04_MemfdBomb", {"memfd", "96"}, memory, InReduced::kOpen, Small()},
      {"Row06_CpuTime", {"burn-cpu", "2200"}, Layers({L::kResourceLimits}), InReduced::kStopped, Small()},
      {"Row09_Write", {"write", "{folder}/open/x"}, files},
      {"Row09_WriteSystemFolders", {"write", "/x", "/usr/x", "/dev/x", "/proc/x", "/etc/x"}, root_files},
      {"Row10_ReadSecret", {"read", "{folder}/secret"}, files},
      {"Row10_FindSecret", {"find", "/tmp", "secret"}, files},
      {"Row11_ProcFiles", {"proc-files", "{victim}"}, other_process},
      {"Row11_ProcCommandLine", {"proc-command-line", "{victim}"}, files | Layers({L::kPidNamespace})},
      {"Row11_ProcOfTheMachine", {"read", "/proc/cmdline", "/proc/version", "/proc/sys/kernel/osrelease"}, files},
      {"Row12_CorePattern", {"open-for-writing", "/proc/sys/kernel/core_pattern"}, root_files},
      {"Row13_Kill", {"kill", "{victim}"}, other_process},
      {"Row14_Ptrace", {"ptrace", "{victim}"}, other_process},
      {"Row14_ProcessVmReadv", {"vm-read", "{victim}", "{address}"}, other_process},
      {"Row14_PidfdGetfd", {"pidfd-getfd", "{victim}"}, other_process},
      {"Row15_SlowDown", {"slow-down", "{victim}"}, other_process},
      {"Row16_Loopback", {"connect-tcp", "{port}"}, Layers({L::kNetNamespace, L::kSeccomp, L::kLandlock})},
      {"Row17_Netlink", {"socket", "16"}, filter},
      {"Row18_AbstractSocket", {"connect-abstract", "{socket}"}, Layers({L::kNetNamespace, L::kLandlock})},
      {"Row20_Keyring", {"keyring"}, filter},
      {"Row20_SysvMemory", {"store-sysv", "{key}"}, filter},
      {"Row20_MessageQueue", {"message-queue"}, Layers({L::kSeccomp, L::kResourceLimits, L::kLandlock})},
      {"Row21_UserNamespace", {"user-namespace"}, filter},
      {"Row21_Mount", {"mount"}, filter | Layers({L::kLandlock, L::kMountNamespace})},
      {"Row22_SetuidProgram",
       {"execute", "{folder}/setuid"},
       Layers({L::kNoNewPrivileges, L::kMountNamespace, L::kLandlock})},
      {"Row27_BigFile", {"big-file", "x", "6"}, Layers({L::kResourceLimits}), InReduced::kStopped, Small()},
      {"Row27_SparseFile", {"sparse-file", "x"}, Layers({L::kResourceLimits}), InReduced::kStopped, Small()},
      {"Row27_FullTmp",
       {"many-files", ".", "100"},
       Layers({L::kMountNamespace, L::kLandlock}),
       InReduced::kOpen,
       Small()},
      {"Row39_CoreFile", {"core"}, Layers({L::kResourceLimits})},
      {"ExecAfterStart", {"exec-again", "{folder}/hostile"}, filter},
      {"HostName", {"host-name"}, Layers({L::kUtsNamespace}), InReduced::kOpen},
      {"Personality", {"personality"}, filter},
      {"TypeIntoTerminal", {"type-into-terminal"}, filter},
  };
  return threats;
}

class ThreatTest : public BoxTest, public ::testing::WithParamInterface<Threat> {
 protected:
  // kSucceeded or kStopped; a death by the box's limits counts as stopped.
  int RunAtLevel(Level level, LayerSet disabled) {
    const Threat& threat = GetParam();
    Policy policy = HostilePolicy(disabled);
    policy.minimum_level = level;
    if (std::string_view(threat.attack[0]) == "execute") {
      policy.binds.push_back({world_->folder() + "/setuid", "", false});
      policy.allow_exec = true;  // another row's wall
    }
    Program program = Attack({});
    for (const char* argument : threat.attack) program.argv.push_back(world_->Fill(argument));
    const Ending ending = Run(policy, threat.limits, program);
    last_ = ending.output + ending.outcome.ToString();
    const Outcome& outcome = ending.outcome;
    if (outcome.kind == Outcome::Kind::kSignalled && (outcome.signal == SIGKILL || outcome.signal == SIGXCPU)) {
      return kStopped;
    }
    return outcome.kind == Outcome::Kind::kExited ? outcome.code : -1;
  }

  std::string last_;  // what the attack said
};

TEST_P(ThreatTest, IsStopped) { EXPECT_EQ(RunAtLevel(Level::kFull, LayerSet()), kStopped) << last_; }

TEST_P(ThreatTest, SucceedsWithoutItsWalls) {
  EXPECT_EQ(RunAtLevel(Level::kNone, GetParam().walls), kSucceeded) << last_;
}

TEST_P(ThreatTest, IsAsDocumentedInReduced) {
  const int expected = GetParam().reduced == InReduced::kStopped ? kStopped : kSucceeded;
  EXPECT_EQ(RunAtLevel(Level::kReduced, kNamespaces | kGroups), expected) << last_;
}

INSTANTIATE_TEST_SUITE_P(Threats, ThreatTest, ::testing::ValuesIn(Threats()),
                         [](const auto& threat) { return std::string(threat.param.name); });

// A layer that no row needs could vanish without a test noticing.
TEST(ThreatTable, NamesEveryLayerOfTheLevelFull) {
  LayerSet named;
  for (const Threat& threat : Threats()) named = named | threat.walls;
  // These have tests of their own: DescriptorsTest, ParentDeathTest, the tests of leftovers, freezing and CPU time.
  const LayerSet elsewhere =
      Layers({Layer::kCloseOnExec, Layer::kParentDeath, Layer::kFreezer, Layer::kCpuAccounting, Layer::kIpcNamespace});
  EXPECT_TRUE(LayersOf(Level::kFull).Without(named | elsewhere).empty());
}

}  // namespace
}  // namespace touchstone

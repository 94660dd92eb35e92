#include "sandbox/box/cgroup.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sandbox/box/file_util.h"
#include "tests/sandbox/box/box_fixture.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

constexpr char kHybridMounts[] =
    "24 1 0:21 / /proc rw - proc proc rw\n"
    "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:5 - cgroup cgroup rw,cpu,cpuacct\n"
    "31 25 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "32 25 0:28 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n"
    "33 25 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

TEST(CgroupLayoutTest, HybridHost) {
  const CgroupLayout layout =
      ParseCgroupLayout("5:freezer:/\n4:memory:/user/a b\n3:cpu,cpuacct:/x\n0::/y\n", kHybridMounts);
  EXPECT_EQ(layout.memory_v1, "/sys/fs/cgroup/memory/user/a b");
  EXPECT_EQ(layout.cpuacct_v1, "/sys/fs/cgroup/cpu,cpuacct/x");
  EXPECT_EQ(layout.freezer_v1, "/sys/fs/cgroup/freezer");
  EXPECT_EQ(layout.v2, "/sys/fs/cgroup/unified/y");
  EXPECT_EQ(layout.pids_v1, "");
}

TEST(CgroupLayoutTest, ContainerThatSeesItsOwnGroupAsTheRoot) {
  const CgroupLayout layout = ParseCgroupLayout(
      "0::/docker/abc/sub\n", "33 25 0:29 /docker/abc /sys/fs/cgroup rw,relatime - cgroup2 cgroup rw,nsdelegate\n");
  EXPECT_EQ(layout.v2, "/sys/fs/cgroup/sub");
  EXPECT_EQ(layout.memory_v1, "");
}

// Seen on a v2 host whose process manager hands its sessions the memory controller alone: boxes had no pids limit and
// level full was refused, though the root of the hierarchy gives everything.
TEST(CgroupV2HomeTest, IsTheNearestGroupThatGivesAllControllers) {
  const fs::path root = fs::temp_directory_path() / ("touchstone-v2-home-" + std::to_string(::getpid()));
  const fs::path own = root / "manager" / "session";
  fs::create_directories(own);
  const auto write = [](const fs::path& file, const std::string& text) { std::ofstream(file) << text; };
  write(root / "cgroup.subtree_control", "cpuset cpu io memory pids\n");
  write(root / "manager" / "cgroup.subtree_control", "memory\n");
  write(own / "cgroup.controllers", "memory\n");
  EXPECT_EQ(ChooseV2Home(own), root);
  write(root / "cgroup.subtree_control", "memory\n");
  EXPECT_EQ(ChooseV2Home(own), own);
  write(own / "cgroup.controllers", "cpuset memory pids\n");
  write(root / "cgroup.subtree_control", "cpuset memory pids\n");
  EXPECT_EQ(ChooseV2Home(own), own);
  fs::remove_all(root);
}

TEST(CgroupLayoutTest, NonsenseGivesNothing) {
  for (const char* text : {"", "\n\n", "0:", "::", "a b c", "1 2 3 4 5 6 7", "1 2 3 4 5 - cgroup"}) {
    EXPECT_EQ(ParseCgroupLayout(text, text).v2, "") << text;
    EXPECT_EQ(ParseCgroupLayout("0::/\n", text).memory_v1, "") << text;
  }
}

// A folder that looks like a v2 hierarchy with all controllers; the kernel's side is played by the test.
class FakeV2 : public ::testing::Test {
 protected:
  FakeV2() {
    char pattern[] = "/tmp/touchstone-cgroup-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    host_.v2 = folder_;
    host_.v2_memory = host_.v2_pids = host_.v2_cpuset = host_.v2_cpu_usage = true;
  }
  ~FakeV2() override { fs::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ + "/box/" + name) << text; }
  std::string Read(const std::string& name) { return ReadKernelFile(folder_ + "/box/" + name).value_or("missing"); }

  std::string folder_;
  CgroupFolders host_;
};

TEST_F(FakeV2, LimitsAndCountsGoThroughTheFilesOfV2) {
  auto box = BoxCgroup::Create(host_, kGroups, "box");
  ASSERT_TRUE(box.ok()) << box.error().ToString();
  EXPECT_GE((*box)->clone_into_fd(), 0);
  EXPECT_TRUE((*box)->doors().empty());
  EXPECT_TRUE((*box)->freezer_v2());
  EXPECT_TRUE((*box)->cpu_usage_v2());
  Limits limits;
  limits.cpus = {1, 3};
  const Status refused = (*box)->SetLimits(limits);
  ASSERT_FALSE(refused.ok()) << "a limit that cannot be set must not be passed over";
  EXPECT_EQ(refused.error().code(), ErrorCode::kUnavailable);
  for (const char* name : {"memory.max", "memory.swap.max", "pids.max", "cpuset.cpus"}) Write(name, "");
  ASSERT_TRUE((*box)->SetLimits(limits).ok());
  EXPECT_EQ(Read("memory.max"), std::to_string(limits.memory_bytes));
  EXPECT_EQ(Read("memory.swap.max"), "0");
  EXPECT_EQ(Read("pids.max"), std::to_string(limits.processes + 1));
  EXPECT_EQ(Read("cpuset.cpus"), "1,3");
  Write("memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n");
  Write("memory.peak", "123456\n");
  Write("cpu.stat", "usage_usec 2500\nuser_usec 1\n");
  const BoxCgroup::Usage usage = (*box)->ReadUsage();
  EXPECT_TRUE(usage.out_of_memory);
  EXPECT_EQ(usage.peak_memory_bytes, 123456U);
  EXPECT_EQ(usage.cpu_time_us, 2500U);
  Write("memory.events", "oom 1\noom_kill 0\n");
  EXPECT_FALSE((*box)->ReadUsage().out_of_memory);
  Write("cgroup.kill", "");
  (*box)->KillAll();
  EXPECT_EQ(Read("cgroup.kill"), "1");
}

// The real v2 mount, which also hybrid hosts have.
TEST(CgroupV2Test, KillsFrozenProcessesAndGoesAway) {
  const CgroupLayout layout = ParseCgroupLayout(ReadKernelFile("/proc/self/cgroup").value_or(""),
                                                ReadKernelFile("/proc/self/mountinfo").value_or(""));
  ASSERT_NE(layout.v2, "") << "no cgroup2 mount: boxes fall back to the v1 freezer, see CgroupV1Test";
  CgroupFolders folders;
  folders.v2 = layout.v2;
  auto box = BoxCgroup::Create(folders, Layers({Layer::kFreezer}), "touchstone-test." + std::to_string(::getpid()));
  ASSERT_TRUE(box.ok()) << box.error().ToString();
  const pid_t pid = ::fork();
  if (pid == 0) {
    while (true) ::pause();
  }
  const std::string folder = layout.v2 + "/touchstone-test." + std::to_string(::getpid());
  ASSERT_TRUE(WriteKernelFile(folder + "/cgroup.procs", std::to_string(pid)).ok());
  EXPECT_FALSE((*box)->Remove()) << "there is a process in it";
  ASSERT_EQ(::write((*box)->OpenFreezer().get(), "1", 1), 1);
  (*box)->KillAll();
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(Eventually([&] { return (*box)->Remove(); }));
  EXPECT_FALSE(fs::exists(folder));
}

// Hosts with v1 alone: the freezer's other face, through the same Box.
TEST(CgroupV1Test, FreezesThawsAndKillsThroughV1) {
  const CgroupLayout layout = ParseCgroupLayout(ReadKernelFile("/proc/self/cgroup").value_or(""),
                                                ReadKernelFile("/proc/self/mountinfo").value_or(""));
  if (layout.freezer_v1.empty()) GTEST_SKIP() << "this host has no v1 freezer";
  CgroupFolders folders;
  folders.freezer_v1 = layout.freezer_v1;
  auto group = BoxCgroup::Create(folders, Layers({Layer::kFreezer}), "touchstone-test." + std::to_string(::getpid()));
  ASSERT_TRUE(group.ok()) << group.error().ToString();
  EXPECT_FALSE((*group)->freezer_v2());
  const pid_t pid = ::fork();
  if (pid == 0) {
    while (true) ::pause();
  }
  ASSERT_EQ((*group)->doors().size(), 1U);
  const std::string text = std::to_string(pid);
  ASSERT_GT(::write((*group)->doors()[0].fd, text.data(), text.size()), 0);
  Box::Handles handles;
  handles.freezer = (*group)->OpenFreezer();
  handles.freezer_state = (*group)->OpenFreezerState();
  Box box(std::move(handles));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(box.Freeze().ok());
    ASSERT_TRUE(box.Thaw().ok());
  }
  ASSERT_TRUE(box.Freeze().ok());
  (*group)->KillAll();
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid) << "v1 has to be thawed for that";
  EXPECT_TRUE(Eventually([&] { return (*group)->Remove(); }));
}

}  // namespace
}  // namespace touchstone

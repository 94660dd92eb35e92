// Real small disks: a tmpfs of this process alone.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/rollout/store_fixture.h"

namespace touchstone {
namespace {

void WriteFile(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// Gives this process mounts of its own, before it has threads.
void EnterOwnMounts() {
  const std::string uid = std::to_string(::getuid());
  const std::string gid = std::to_string(::getgid());
  TOUCHSTONE_CHECK(::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0, "user and mount namespaces are needed");
  WriteFile("/proc/self/setgroups", "deny");
  WriteFile("/proc/self/uid_map", "0 " + uid + " 1");
  WriteFile("/proc/self/gid_map", "0 " + gid + " 1");
  TOUCHSTONE_CHECK(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "private mounts");
}

class StoreDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=8m"), 0);
    mounted_ = true;
  }
  void TearDown() override {
    store_.reset();
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }

  void Open(uint64_t min_free_bytes) {
    StoreOptions options = OptionsFor(folder_.path() + "/store");
    options.min_free_bytes = min_free_bytes;
    store_ = RolloutStore::Open(options).value();
  }

  // Until the disk refuses, whose error it returns.
  Error AppendUntilRefused() {
    for (;;) {
      RolloutRecord record = MakeRollout(next_++);
      // Hardly to be compressed.
      for (uint64_t x = 88172645463325252u + static_cast<uint64_t>(next_); record.response.size() < 100'000;) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        record.response += static_cast<char>(x);
      }
      const auto result = store_->Append(record);
      if (!result.ok()) return result.error();
      acknowledged_.push_back(record.id);
    }
  }

  void CheckAllThere() {
    std::vector<std::string> ids;
    for (const RolloutSummary& row : *store_->List({})) ids.push_back(row.id);
    EXPECT_EQ(ids, acknowledged_);
    EXPECT_THAT(store_->Verify(), Succeeds());
  }

  TempFolder folder_;
  std::string ballast_ = folder_.path() + "/ballast";
  std::unique_ptr<RolloutStore> store_;
  std::vector<std::string> acknowledged_;
  int next_ = 0;

 private:
  bool mounted_ = false;
};

TEST_F(StoreDiskTest, AFullDiskRefusesAndLosesNothing) {
  WriteFile(ballast_, std::string(4 << 20, 'b'));
  Open(/*min_free_bytes=*/0);
  const Error error = AppendUntilRefused();
  EXPECT_EQ(error.code(), ErrorCode::kExhausted) << error.ToString();
  EXPECT_GT(acknowledged_.size(), 3u);
  CheckAllThere();
  std::filesystem::remove(ballast_);
  const size_t before = acknowledged_.size();
  EXPECT_EQ(AppendUntilRefused().code(), ErrorCode::kExhausted);
  EXPECT_GT(acknowledged_.size(), before) << "with room it goes on";
  CheckAllThere();
}

TEST_F(StoreDiskTest, TheFloorRefusesBeforeTheDiskIsFull) {
  Open(/*min_free_bytes=*/4 << 20);
  const Error error = AppendUntilRefused();
  EXPECT_EQ(error.code(), ErrorCode::kExhausted);
  EXPECT_NE(error.message().find("min_free_bytes is 4194304"), std::string::npos) << error.message();
  WriteFile(ballast_, std::string(2 << 20, 'b'));
  EXPECT_EQ(std::filesystem::file_size(ballast_), size_t{2 << 20}) << "there was room for others";
  std::filesystem::remove(ballast_);
  CheckAllThere();
  store_.reset();
  Open(/*min_free_bytes=*/0);
  EXPECT_EQ(AppendUntilRefused().code(), ErrorCode::kExhausted);
  CheckAllThere();
}

TEST_F(StoreDiskTest, AReadOnlyDiskCanBeReadButNotWritten) {
  Open(0);
  ASSERT_THAT(store_->Append(MakeRollout(0)), Succeeds());
  store_.reset();
  ASSERT_EQ(::mount(nullptr, folder_.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  EXPECT_THAT(RolloutStore::Open(OptionsFor(folder_.path() + "/store")),
              Fails(ErrorCode::kUnavailable, "Read-only file system"));
  EXPECT_THAT(RolloutStore::Open(OptionsFor(folder_.path() + "/new")),
              Fails(ErrorCode::kUnavailable, "Read-only file system"));
  {
    const auto reader = OpenStore(folder_.path() + "/store", /*read_only=*/true);
    EXPECT_EQ(reader->Read("r0")->source, MakeRollout(0).source);
    EXPECT_THAT(reader->Verify(), Succeeds());
  }
  ASSERT_EQ(::mount(nullptr, folder_.path().c_str(), nullptr, MS_REMOUNT, nullptr), 0);
  Open(0);
  EXPECT_THAT(store_->Append(MakeRollout(1)), Succeeds());
}

}  // namespace
}  // namespace touchstone

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  touchstone::EnterOwnMounts();
  return RUN_ALL_TESTS();
}

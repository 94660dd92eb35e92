// Disks that refuse, files that go away, and other processes: a clear error, nothing lost, and usable again.
#include <sqlite3.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/rollout/faulty_disk.h"
#include "tests/rollout/store_fixture.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

class StoreFaultTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { FaultyDisk::Install(); }
  void TearDown() override { FaultyDisk::Heal(); }

  std::vector<std::string> StoredIds() {
    RolloutFilter filter;
    filter.limit = 1'000'000;
    std::vector<std::string> ids;
    for (const RolloutSummary& row : *store_->List(filter)) ids.push_back(row.id);
    return ids;
  }

  TempFolder folder_;
  std::unique_ptr<RolloutStore> store_ = OpenStore(folder_.path());
};

struct Fault {
  const char* name;
  int code;
  ErrorCode expected;
};

class StoreDiskFaultTest : public StoreFaultTest, public ::testing::WithParamInterface<Fault> {};

// Refused at the first write or sync of an append, at the second, and so on, until one comes through without meeting
// the fault: every place at which the disk can refuse has been met.
TEST_P(StoreDiskFaultTest, ARefusedAppendLeavesNothingAndTheNextOneComesThrough) {
  std::vector<std::string> acknowledged;
  int number = 0;
  for (int after = 0;; ++after) {
    ASSERT_LT(after, 200);
    RolloutRecord record = MakeRollout(number++);
    record.response = std::string(20'000, 'x') + std::to_string(number * 7919);
    FaultyDisk::FailWrites(GetParam().code, after);
    const auto result = store_->Append(record);
    const bool met = FaultyDisk::refused() > 0;
    FaultyDisk::Heal();
    if (result.ok()) {
      acknowledged.push_back(record.id);
      if (!met) break;
      continue;
    }
    EXPECT_TRUE(met);
    EXPECT_EQ(result.error().code(), GetParam().expected) << result.error().ToString();
    EXPECT_EQ(StoredIds(), acknowledged) << "after " << after;
    ASSERT_THAT(store_->Append(record), Succeeds()) << "after " << after;
    acknowledged.push_back(record.id);
  }
  EXPECT_GT(number, 3) << "the fault was hardly met";
  store_.reset();
  store_ = OpenStore(folder_.path());
  EXPECT_EQ(StoredIds(), acknowledged);
  EXPECT_THAT(store_->Verify(), Succeeds());
}

INSTANTIATE_TEST_SUITE_P(Faults, StoreDiskFaultTest,
                         ::testing::Values(Fault{"DiskFull", SQLITE_FULL, ErrorCode::kExhausted},
                                           Fault{"WriteError", SQLITE_IOERR_WRITE, ErrorCode::kUnavailable},
                                           Fault{"SyncError", SQLITE_IOERR_FSYNC, ErrorCode::kUnavailable},
                                           Fault{"ReadOnlyDisk", SQLITE_READONLY, ErrorCode::kUnavailable}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(StoreFaultTest, EveryWriteOfARefusedBatchIsTold) {
  std::vector<Result<uint64_t>> results(50, Error(ErrorCode::kInternal, "not called"));
  FaultyDisk::FailWrites(SQLITE_FULL);
  for (int i = 0; i < 50; ++i) {
    store_->Append(MakeRollout(i), [&results, i](Result<uint64_t> result) { results[i] = std::move(result); });
  }
  store_.reset();
  FaultyDisk::Heal();
  for (const auto& result : results) EXPECT_THAT(result, Fails(ErrorCode::kExhausted, "full"));
  store_ = OpenStore(folder_.path());
  EXPECT_TRUE(StoredIds().empty());
}

TEST_F(StoreFaultTest, ATakenDatabaseIsNoticedAndWelcomeBack) {
  ASSERT_THAT(store_->Append(MakeRollout(0)), Succeeds());
  for (const char* name : {"/rollouts.sqlite", "/rollouts.sqlite-wal"}) {
    const fs::path file = folder_.path() + name;
    fs::rename(file, folder_.path() + "/elsewhere");
    EXPECT_THAT(store_->Append(MakeRollout(1)), Fails(ErrorCode::kUnavailable, file.string()));
    std::fclose(std::fopen(file.c_str(), "w"));
    EXPECT_THAT(store_->Append(MakeRollout(1)), Fails(ErrorCode::kUnavailable, "is another file"));
    fs::rename(folder_.path() + "/elsewhere", file);
  }
  ASSERT_THAT(store_->Append(MakeRollout(1)), Succeeds());
  store_.reset();
  store_ = OpenStore(folder_.path());
  EXPECT_EQ(StoredIds(), (std::vector<std::string>{"r0", "r1"}));
}

TEST_F(StoreFaultTest, ADeletedFolderIsNoticed) {
  ASSERT_THAT(store_->Append(MakeRollout(0)), Succeeds());
  fs::remove_all(folder_.path());
  EXPECT_THAT(store_->Append(MakeRollout(1)), Fails(ErrorCode::kUnavailable, "No such file"));
}

TEST_F(StoreFaultTest, ASecondWriterIsRefusedUntilTheFirstEnds) {
  EXPECT_THAT(RolloutStore::Open(OptionsFor(folder_.path())),
              Fails(ErrorCode::kUnavailable, "another process writes to this store"));
  ASSERT_THAT(store_->Append(MakeRollout(0)), Succeeds());
  store_.reset();
  store_ = OpenStore(folder_.path());
  ASSERT_THAT(store_->Append(MakeRollout(1)), Succeeds());
}

TEST_F(StoreFaultTest, AReaderBesideTheWriterSeesWhatIsCommitted) {
  ASSERT_THAT(store_->Append(MakeRollout(0)), Succeeds());
  const auto reader = OpenStore(folder_.path(), /*read_only=*/true);
  EXPECT_EQ(reader->last_sequence(), 1u);
  ASSERT_THAT(store_->Append(MakeRollout(1)), Succeeds());
  EXPECT_EQ(reader->Read("r1")->source, MakeRollout(1).source);
  EXPECT_EQ(reader->last_sequence(), 2u);
  EXPECT_THAT(reader->Append(MakeRollout(2)), Fails(ErrorCode::kInvalidArgument, "read_only"));
  EXPECT_THAT(reader->Verify(), Succeeds());
}

TEST_F(StoreFaultTest, AFullQueueRefuses) {
  store_.reset();
  StoreOptions options = OptionsFor(folder_.path());
  options.max_waiting = 4;
  store_ = RolloutStore::Open(options).value();
  // The writer thread stands in the first callback until all others are submitted.
  std::promise<void> submitted;
  std::shared_future<void> all = submitted.get_future().share();
  std::promise<void> standing;
  store_->Append(MakeRollout(0), [&](const Result<uint64_t>& result) {
    EXPECT_THAT(result, Succeeds());
    standing.set_value();
    all.wait();
  });
  standing.get_future().wait();
  std::vector<Result<uint64_t>> results(10, Error(ErrorCode::kInternal, "not called"));
  for (int i = 0; i < 10; ++i) {
    store_->Append(MakeRollout(i + 1), [&results, i](Result<uint64_t> result) { results[i] = std::move(result); });
  }
  submitted.set_value();
  store_.reset();
  for (int i = 0; i < 4; ++i) EXPECT_THAT(results[i], Succeeds());
  for (int i = 4; i < 10; ++i) EXPECT_THAT(results[i], Fails(ErrorCode::kExhausted, "4 writes wait for the disk"));
}

TEST_F(StoreFaultTest, WhatIsNoStoreIsRefused) {
  const std::string other = folder_.path() + "/other";
  fs::create_directory(other);
  EXPECT_THAT(RolloutStore::Open(OptionsFor(folder_.path() + "/none", /*read_only=*/true)),
              Fails(ErrorCode::kNotFound, "/none: there is no store"));
  std::FILE* file = std::fopen((other + "/rollouts.sqlite").c_str(), "w");
  std::fputs("a text that is no database, and long enough to be looked at as one: no header, no pages, nothing at all",
             file);
  std::fclose(file);
  EXPECT_THAT(RolloutStore::Open(OptionsFor(other)), Fails(ErrorCode::kCorrupt, "not a database"));
  EXPECT_THAT(RolloutStore::Open(OptionsFor(other, true)), Fails(ErrorCode::kCorrupt, "not a database"));
  EXPECT_THAT(RolloutStore::Open(OptionsFor("/proc/store")), Fails(ErrorCode::kUnavailable, "/proc/store"));
}

}  // namespace
}  // namespace touchstone

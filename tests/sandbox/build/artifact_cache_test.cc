#include "sandbox/build/artifact_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/hash.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

std::string KeyOf(int n) { return HashHex("key " + std::to_string(n)); }

CacheEntry BuiltEntry(std::string artifact) {
  CacheEntry entry;
  entry.kind = BuildOutcome::Kind::kBuilt;
  entry.artifact_hash = HashHex(artifact);
  entry.artifact = std::move(artifact);
  entry.diagnostics = {{"candidate.cc", 3, 4, "warning", "unused \xE2\x80\x98x\xE2\x80\x99"}};
  entry.log = "candidate.cc:3:4: warning\n";
  return entry;
}

std::string FileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

size_t FilesWith(const std::string& folder, const std::string& suffix) {
  size_t count = 0;
  for (const auto& item : fs::directory_iterator(folder)) count += item.path().native().ends_with(suffix) ? 1 : 0;
  return count;
}

class ArtifactCacheTest : public testing::Test {
 protected:
  ArtifactCacheTest() {
    std::string pattern = (fs::temp_directory_path() / "touchstone-cache-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ArtifactCacheTest() override { fs::remove_all(folder_); }

  std::unique_ptr<ArtifactCache> Open(uint64_t limit_bytes = uint64_t{64} << 20) const {
    auto cache = ArtifactCache::Open(folder_, limit_bytes);
    return cache.ok() ? std::move(*cache) : nullptr;
  }
  std::string folder_;
};

TEST_F(ArtifactCacheTest, GivesBackWhatWasStoredAlsoAfterARestart) {
  const CacheEntry stored = BuiltEntry(std::string("ELF\0binary", 10));
  ASSERT_TRUE(Open()->Store(KeyOf(1), stored).ok());
  const auto cache = Open();
  const auto found = cache->Find(KeyOf(1));
  ASSERT_TRUE(found.ok() && found->has_value());
  const CacheEntry& entry = **found;
  EXPECT_EQ(entry.kind, BuildOutcome::Kind::kBuilt);
  EXPECT_EQ(entry.artifact, stored.artifact);
  EXPECT_EQ(entry.artifact_hash, stored.artifact_hash);
  EXPECT_EQ(entry.log, stored.log);
  ASSERT_EQ(entry.diagnostics.size(), 1u);
  EXPECT_EQ(entry.diagnostics[0].message, stored.diagnostics[0].message);
  EXPECT_EQ(entry.diagnostics[0].line, 3);
  EXPECT_FALSE(cache->Find(KeyOf(2))->has_value());
}

TEST_F(ArtifactCacheTest, KeepsCompileErrors) {
  CacheEntry error;
  error.kind = BuildOutcome::Kind::kCompileError;
  error.diagnostics = {{"candidate.cc", 7, 1, "error", "no"}};
  const auto cache = Open();
  ASSERT_TRUE(cache->Store(KeyOf(1), error).ok());
  const auto found = cache->Find(KeyOf(1));
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->kind, BuildOutcome::Kind::kCompileError);
  EXPECT_TRUE((*found)->artifact.empty());
}

TEST_F(ArtifactCacheTest, EveryFlippedByteIsAMissAndTheFileIsRemoved) {
  const auto cache = Open();
  ASSERT_TRUE(cache->Store(KeyOf(1), BuiltEntry("some artifact bytes")).ok());
  const std::string path = cache->PathOf(KeyOf(1));
  const std::string good = FileBytes(path);
  ASSERT_GT(good.size(), kCacheEntryHeaderBytes);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    WriteFile(path, bad);
    const auto found = cache->Find(KeyOf(1));
    ASSERT_TRUE(found.ok()) << "byte " << i;
    EXPECT_FALSE(found->has_value()) << "byte " << i;
    EXPECT_FALSE(fs::exists(path)) << "byte " << i;
  }
  WriteFile(path, good);  // the control: it is the flip that made it a miss
  EXPECT_TRUE(cache->Find(KeyOf(1))->has_value());
}

TEST_F(ArtifactCacheTest, EveryTruncationAndAnyExtensionIsAMiss) {
  const auto cache = Open();
  ASSERT_TRUE(cache->Store(KeyOf(1), BuiltEntry("some artifact bytes")).ok());
  const std::string path = cache->PathOf(KeyOf(1));
  const std::string good = FileBytes(path);
  for (size_t size = 0; size < good.size(); ++size) {
    WriteFile(path, good.substr(0, size));
    EXPECT_FALSE(cache->Find(KeyOf(1))->has_value()) << size << " bytes";
  }
  WriteFile(path, good + "x");
  EXPECT_FALSE(cache->Find(KeyOf(1))->has_value());
  WriteFile(path, good);
  EXPECT_TRUE(cache->Find(KeyOf(1))->has_value());
}

TEST_F(ArtifactCacheTest, AnEntryUnderAnotherKeysNameIsAMiss) {
  const auto cache = Open();
  ASSERT_TRUE(cache->Store(KeyOf(1), BuiltEntry("one")).ok());
  fs::copy_file(cache->PathOf(KeyOf(1)), cache->PathOf(KeyOf(2)));
  EXPECT_FALSE(cache->Find(KeyOf(2))->has_value());
  EXPECT_TRUE(cache->Find(KeyOf(1))->has_value());
}

TEST_F(ArtifactCacheTest, RefusesKeysThatAreNoHashes) {
  const auto cache = Open();
  for (const std::string key : {"", "../../etc/passwd", "ABC", "a b"}) {
    EXPECT_FALSE(cache->Find(key).ok()) << key;
    EXPECT_FALSE(cache->Store(key, BuiltEntry("x")).ok()) << key;
  }
}

TEST_F(ArtifactCacheTest, StaysWithinItsSizeAndKeepsWhatWasUsedLast) {
  constexpr uint64_t kLimitBytes = 64 * 4096;
  const auto cache = Open(kLimitBytes);
  const auto age = [&](int n, int seconds) {
    const timespec then[2] = {{1'700'000'000 + seconds, 0}, {1'700'000'000 + seconds, 0}};
    ::utimensat(AT_FDCWD, cache->PathOf(KeyOf(n)).c_str(), then, 0);
  };
  for (int n = 0; n < 40; ++n) {
    ASSERT_TRUE(cache->Store(KeyOf(n), BuiltEntry(std::string(3000, 'x'))).ok());
    age(n, n);
  }
  ASSERT_TRUE(cache->Find(KeyOf(0))->has_value());  // the oldest, used now
  for (int n = 40; n < 200; ++n) {
    ASSERT_TRUE(cache->Store(KeyOf(n), BuiltEntry(std::string(3000, 'x'))).ok());
    if (n < 199) age(n, n);
    ASSERT_LE(*cache->Measure(), kLimitBytes) << "after " << n;
  }
  EXPECT_TRUE(cache->Find(KeyOf(0))->has_value());
  EXPECT_TRUE(cache->Find(KeyOf(199))->has_value());
  EXPECT_FALSE(cache->Find(KeyOf(1))->has_value());
  EXPECT_FALSE(cache->Find(KeyOf(100))->has_value());
}

TEST_F(ArtifactCacheTest, OpeningWithASmallerLimitTrims) {
  ASSERT_TRUE(Open()->Store(KeyOf(1), BuiltEntry(std::string(100'000, 'x'))).ok());
  ASSERT_TRUE(Open()->Store(KeyOf(2), BuiltEntry(std::string(100'000, 'y'))).ok());
  const auto small = Open(160 * 1024);
  EXPECT_LE(*small->Measure(), 160u * 1024u);
  EXPECT_FALSE(small->Find(KeyOf(1))->has_value());
}

TEST_F(ArtifactCacheTest, AnEntryOfMoreThanASixteenthIsNotKept) {
  const auto cache = Open(16 * 4096);
  ASSERT_TRUE(cache->Store(KeyOf(1), BuiltEntry(std::string(5000, 'x'))).ok());
  EXPECT_EQ(*cache->Measure(), 0u);
  ASSERT_TRUE(cache->Store(KeyOf(2), BuiltEntry(std::string(2000, 'x'))).ok());
  EXPECT_TRUE(cache->Find(KeyOf(2))->has_value());
}

TEST_F(ArtifactCacheTest, ManyWritersAndReadersOfTheSameKeysSeeWholeEntriesOnly) {
  constexpr int kKeys = 4;
  constexpr int kRounds = 60;
  std::atomic<int> wrong = 0;
  std::atomic<int> hits = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto cache = Open(uint64_t{16} << 20);  // one each: as several processes would have it
      for (int i = 0; i < kRounds; ++i) {
        const int n = (i + t) % kKeys;
        const std::string artifact(static_cast<size_t>(20'000 + n), static_cast<char>('a' + n));
        if (!cache->Store(KeyOf(n), BuiltEntry(artifact)).ok()) ++wrong;
        const auto found = cache->Find(KeyOf(n));
        if (!found.ok() || !found->has_value() || (*found)->artifact != artifact) ++wrong;
        if (found.ok() && found->has_value()) ++hits;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(hits, 4 * kRounds);
  EXPECT_EQ(FilesWith(folder_, ".tmp"), 0u);
}

// The writer says by a pipe that it begins an entry; each time it is killed at another moment of its work.
TEST_F(ArtifactCacheTest, AWriterKilledAtAnyMomentLeavesWholeEntriesOnly) {
  constexpr int kKills = 25;
  const std::string artifact(1'500'000, 'z');
  int abandoned = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto cache = Open();
      for (int n = 0;; ++n) {
        const char byte = 'x';
        if (::write(ends[1], &byte, 1) != 1) ::_exit(1);
        if (!cache->Store(KeyOf(n % 8), BuiltEntry(artifact)).ok()) ::_exit(2);
      }
    }
    ::close(ends[1]);
    char byte = 0;
    for (int i = 0; i <= kill % 3; ++i) ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(100 * kill);
    while (std::chrono::steady_clock::now() < until) {
    }
    while (kill % 2 == 0 && FilesWith(folder_, ".tmp") == 0) {  // every other kill: surely in the middle of a file
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself: " << WEXITSTATUS(status);
    ::close(ends[0]);
    abandoned += static_cast<int>(FilesWith(folder_, ".tmp"));

    const auto cache = Open();
    ASSERT_NE(cache, nullptr);
    EXPECT_EQ(FilesWith(folder_, ".tmp"), 0u);
    const size_t entries = FilesWith(folder_, ".entry");
    size_t whole = 0;
    for (int n = 0; n < 8; ++n) {
      const auto found = cache->Find(KeyOf(n));
      ASSERT_TRUE(found.ok());
      if (found->has_value() && (*found)->artifact == artifact) ++whole;
    }
    EXPECT_EQ(whole, entries);
  }
  EXPECT_GT(abandoned, 0) << "no kill hit a write: the test proves nothing";
}

TEST_F(ArtifactCacheTest, ATemporaryFileOfALivingWriterStays) {
  const std::string path = folder_ + "/0123.tmp";
  WriteFile(path, "half");
  const UniqueFd writer(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(writer.get(), LOCK_EX), 0);
  ASSERT_NE(Open(), nullptr);
  EXPECT_TRUE(fs::exists(path));
  ASSERT_EQ(::flock(writer.get(), LOCK_UN), 0);  // as its death would
  ASSERT_NE(Open(), nullptr);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ArtifactCacheTest, SaysWhereTheFolderCannotBe) {
  WriteFile(folder_ + "/file", "");
  const auto cache = ArtifactCache::Open(folder_ + "/file/below", 1 << 20);
  ASSERT_FALSE(cache.ok());
  EXPECT_NE(cache.error().message().find("/file/below"), std::string::npos);
}

TEST(CacheEntryTest, RefusesDescriptionsThatAreNotOurs) {
  const std::string key = KeyOf(1);
  const auto description = [&](const std::string& kind, const std::string& line) {
    return R"({"key":")" + key + R"(","kind":")" + kind +
           R"(","artifact_hash":"","log":"","diagnostics":[{"file":"f","line":)" + line +
           R"(,"column":1,"severity":"error","message":"m"}]})";
  };
  EXPECT_TRUE(DecodeCacheDescription(key, description("compile_error", "1")).ok());
  EXPECT_FALSE(DecodeCacheDescription(KeyOf(2), description("compile_error", "1")).ok());
  EXPECT_FALSE(DecodeCacheDescription(key, description("timeout", "1")).ok());
  EXPECT_FALSE(DecodeCacheDescription(key, description("compile_error", "-1")).ok());
  EXPECT_FALSE(DecodeCacheDescription(key, description("compile_error", "99999999999999999999")).ok());
  EXPECT_FALSE(DecodeCacheDescription(key, description("compile_error", "\"1\"")).ok());
  for (const char* text : {"", "[]", "{}", "null", "{\"key\":1}", "{\"key\":"}) {
    EXPECT_FALSE(DecodeCacheDescription(key, text).ok()) << text;
  }
}

}  // namespace
}  // namespace touchstone

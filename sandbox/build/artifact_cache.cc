#include "sandbox/build/artifact_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/hash.h"
#include "base/memfd.h"

namespace touchstone {
namespace {

constexpr std::string_view kEntrySuffix = ".entry";
constexpr std::string_view kTemporarySuffix = ".tmp";
constexpr uint64_t kBlockBytes = 4096;
constexpr int kTrimParts = 16;  // a trim after each sixteenth of the limit

uint64_t BlockBytes(uint64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes; }

Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError("writing a cache entry");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// A writer holds a lock on its temporary file until it has its final name. Who gets the lock knows that it is dead.
void RemoveIfAbandoned(int folder, const char* name) {
  const UniqueFd file(::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.valid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(folder, name, 0);
}

// A new locked file; its name in `name`. The lock is taken after the file exists: another process may have taken the
// file for abandoned in between, then it has no name any more.
Result<UniqueFd> NewTemporary(int folder, std::string& name) {
  constexpr int kAttempts = 16;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const SecretKey random = NewSecretKey();
    name = ToHex(random).substr(0, 32) + std::string(kTemporarySuffix);
    UniqueFd file(::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.valid()) return ErrnoError("creating a cache entry");
    struct stat info {};
    if (::flock(file.get(), LOCK_EX) != 0 || ::fstat(file.get(), &info) != 0)
      return ErrnoError("locking a cache entry");
    if (info.st_nlink > 0) return file;
  }
  return Error(ErrorCode::kUnavailable, "temporary files of the cache disappear");
}

bool IsKey(const std::string& key) {
  return !key.empty() && key.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

struct ArtifactCache::Contents {
  struct File {
    timespec used;
    uint64_t bytes;
    std::string name;
  };
  std::vector<File> entries;
  std::vector<std::string> temporaries;
  uint64_t bytes = 0;
};

Result<std::unique_ptr<ArtifactCache>> ArtifactCache::Open(const std::string& folder, uint64_t limit_bytes) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(folder).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) return Error(ErrorCode::kInvalidArgument, "cache folder '" + folder + "': " + error.message());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoError(ErrorCode::kInvalidArgument, "cache folder '" + folder + "'");
  }
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoError(ErrorCode::kInvalidArgument, "cache folder '" + folder + "'");
  std::unique_ptr<ArtifactCache> cache(new ArtifactCache(folder, std::move(fd), limit_bytes));
  TOUCHSTONE_RETURN_IF_ERROR(cache->Trim());
  return cache;
}

Result<std::optional<CacheEntry>> ArtifactCache::Find(const std::string& key) {
  if (!IsKey(key)) return Error(ErrorCode::kInvalidArgument, "cache key '" + key + "'");
  const std::string name = FileName(key);
  const UniqueFd file(::openat(folder_fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) {
    if (errno == ENOENT) return std::optional<CacheEntry>();
    return ErrnoError("opening a cache entry");
  }
  auto bytes = ReadAll(file.get(), limit_bytes_);
  auto entry = bytes.ok() ? DecodeCacheEntry(key, *bytes) : Result<CacheEntry>(bytes.error());
  if (!entry.ok()) {
    ::unlinkat(folder_fd_.get(), name.c_str(), 0);
    return std::optional<CacheEntry>();
  }
  ::futimens(file.get(), nullptr);
  return std::optional<CacheEntry>(std::move(*entry));
}

Status ArtifactCache::Store(const std::string& key, const CacheEntry& entry) {
  if (!IsKey(key)) return Error(ErrorCode::kInvalidArgument, "cache key '" + key + "'");
  const std::string bytes = EncodeCacheEntry(key, entry);
  const uint64_t part_bytes = limit_bytes_ / kTrimParts;
  if (bytes.size() > part_bytes) return {};
  TOUCHSTONE_RETURN_IF_ERROR(WriteAndRename(bytes, FileName(key)));
  {
    const MutexLock lock(mutex_);
    written_since_trim_ += BlockBytes(bytes.size());
    if (written_since_trim_ < part_bytes) return {};
    written_since_trim_ = 0;
  }
  return Trim();
}

Status ArtifactCache::WriteAndRename(const std::string& bytes, const std::string& name) {
  std::string temporary;
  TOUCHSTONE_ASSIGN(const UniqueFd file, NewTemporary(folder_fd_.get(), temporary));
  Status status = WriteAll(file.get(), bytes);
  if (status.ok() && ::fdatasync(file.get()) != 0) status = ErrnoError("syncing a cache entry");
  if (status.ok() && ::renameat(folder_fd_.get(), temporary.c_str(), folder_fd_.get(), name.c_str()) != 0) {
    status = ErrnoError("naming a cache entry");
  }
  if (!status.ok()) ::unlinkat(folder_fd_.get(), temporary.c_str(), 0);
  return status;
}

Result<ArtifactCache::Contents> ArtifactCache::Scan() const {
  UniqueFd again(::openat(folder_fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again.valid()) return ErrnoError("opening the cache folder");
  const std::unique_ptr<DIR, DirectoryCloser> directory(::fdopendir(again.get()));
  if (directory == nullptr) return ErrnoError("reading the cache folder");
  again.Release();  // the directory stream owns it now
  Contents contents;
  while (const dirent* item = ::readdir(directory.get())) {
    const std::string_view name = item->d_name;
    if (name.ends_with(kTemporarySuffix)) contents.temporaries.emplace_back(name);
    if (!name.ends_with(kEntrySuffix)) continue;
    struct stat info {};
    if (::fstatat(folder_fd_.get(), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;  // removed meanwhile
    const uint64_t bytes = BlockBytes(static_cast<uint64_t>(info.st_size));
    contents.bytes += bytes;
    contents.entries.push_back({info.st_mtim, bytes, std::string(name)});
  }
  return contents;
}

Status ArtifactCache::Trim() {
  TOUCHSTONE_ASSIGN(Contents contents, Scan());
  for (const std::string& name : contents.temporaries) RemoveIfAbandoned(folder_fd_.get(), name.c_str());
  const uint64_t goal = limit_bytes_ / 8 * 7;
  if (contents.bytes <= goal) return {};
  std::sort(contents.entries.begin(), contents.entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) < std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  for (const Contents::File& file : contents.entries) {
    if (contents.bytes <= goal) break;
    if (::unlinkat(folder_fd_.get(), file.name.c_str(), 0) != 0 && errno != ENOENT) {
      return ErrnoError("removing a cache entry");
    }
    contents.bytes -= file.bytes;
  }
  return {};
}

Result<uint64_t> ArtifactCache::Measure() const {
  TOUCHSTONE_ASSIGN(const Contents contents, Scan());
  return contents.bytes;
}

}  // namespace touchstone

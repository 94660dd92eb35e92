#ifndef TOUCHSTONE_SANDBOX_BUILD_ARTIFACT_CACHE_H_
#define TOUCHSTONE_SANDBOX_BUILD_ARTIFACT_CACHE_H_

#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/build/cache_entry.h"

namespace touchstone {

// Build results on disk, one file per key, least recently used out first.
//
// Every file is complete or absent: it is written under a temporary name, synced and renamed, so a process may die at
// any moment. What was written is checked when it is read; a damaged file is removed and counts as a miss. Any number
// of processes may share the folder. Thread-safe. Blocks on the disk only.
//
// Size: files count in whole blocks of 4 KiB. Each process looks at the whole folder when it opens it and whenever it
// has itself written a sixteenth of the limit since; so n processes may overshoot the limit by n sixteenths for a
// while.
class ArtifactCache {
 public:
  // Makes the folder (0700) when it is missing. Removes what killed writers left.
  static Result<std::unique_ptr<ArtifactCache>> Open(const std::string& folder, uint64_t limit_bytes);

  // The entry, or nothing. Marks it as used now. `key` is lower-case hexadecimal.
  Result<std::optional<CacheEntry>> Find(const std::string& key);
  // Replaces what is there. An entry of more than a sixteenth of the limit is not kept.
  Status Store(const std::string& key, const CacheEntry& entry);

  // Bytes of all entries that are in the folder now.
  Result<uint64_t> Measure() const;
  // The file of a key, for tests.
  std::string PathOf(const std::string& key) const { return folder_ + "/" + FileName(key); }

 private:
  struct Contents;
  ArtifactCache(std::string folder, UniqueFd folder_fd, uint64_t limit_bytes)
      : folder_(std::move(folder)), folder_fd_(std::move(folder_fd)), limit_bytes_(limit_bytes) {}
  static std::string FileName(const std::string& key) { return key + ".entry"; }

  Status WriteAndRename(const std::string& bytes, const std::string& name);
  Result<Contents> Scan() const;
  // Removes abandoned temporary files, then the oldest entries until seven eighths of the limit are left.
  Status Trim();

  const std::string folder_;
  const UniqueFd folder_fd_;
  const uint64_t limit_bytes_;
  Mutex mutex_;
  uint64_t written_since_trim_ TOUCHSTONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BUILD_ARTIFACT_CACHE_H_

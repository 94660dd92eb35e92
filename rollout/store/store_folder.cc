#include "rollout/store/store_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "rollout/format.h"

namespace touchstone {
namespace {

// Makes the folder's own name durable. A file system that cannot do that (EINVAL) has nothing to lose.
Status SyncFolder(const std::filesystem::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoError(ErrorCode::kUnavailable, "opening " + folder.string());
  if (::fsync(fd.get()) != 0 && errno != EINVAL) {
    return ErrnoError(ErrorCode::kUnavailable, "syncing " + folder.string());
  }
  return {};
}

Status MakeFolder(const std::string& folder) {
  std::error_code error;
  const bool made = std::filesystem::create_directories(folder, error);
  if (error) return Error(ErrorCode::kUnavailable, "making the folder " + folder + ": " + error.message());
  if (!made) return {};
  const auto parent = std::filesystem::absolute(folder, error).lexically_normal();
  return SyncFolder((parent.has_filename() ? parent : parent.parent_path()).parent_path());
}

}  // namespace

std::string DatabasePath(const std::string& folder) { return folder + "/" + format::kDatabaseFile; }

std::string StoreFolder::database() const { return DatabasePath(folder_); }

Result<StoreFolder> StoreFolder::Claim(const std::string& folder) {
  TOUCHSTONE_RETURN_IF_ERROR(MakeFolder(folder));
  const std::string path = folder + "/" + format::kLockFile;
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock.valid()) return ErrnoError(ErrorCode::kUnavailable, "opening " + path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Error(ErrorCode::kUnavailable, "folder " + folder + ": another process writes to this store");
    }
    return ErrnoError(ErrorCode::kUnavailable, "locking " + path);
  }
  return StoreFolder(folder, std::move(lock));
}

Status StoreFolder::Pin() {
  pinned_.clear();
  for (const std::string& path : {database(), database() + "-wal"}) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return ErrnoError(ErrorCode::kUnavailable, path);
    pinned_.push_back({path, info.st_dev, info.st_ino});
  }
  return {};
}

Status StoreFolder::CheckPinned() const {
  for (const File& file : pinned_) {
    struct stat info {};
    if (::stat(file.path.c_str(), &info) != 0) return ErrnoError(ErrorCode::kUnavailable, file.path);
    if (info.st_dev != file.device || info.st_ino != file.inode) {
      return Error(ErrorCode::kUnavailable, file.path + ": is another file than the one that was opened");
    }
  }
  return {};
}

Status StoreFolder::CheckFree(uint64_t bytes) const {
  struct statvfs info {};
  if (::statvfs(folder_.c_str(), &info) != 0) return ErrnoError(ErrorCode::kUnavailable, "folder " + folder_);
  const uint64_t free = uint64_t{info.f_bavail} * info.f_frsize;
  if (free >= bytes) return {};
  return Error(ErrorCode::kExhausted, "folder " + folder_ + ": " + std::to_string(free) +
                                          " bytes are free on its disk, min_free_bytes is " + std::to_string(bytes));
}

}  // namespace touchstone

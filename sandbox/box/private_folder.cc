#include "sandbox/box/private_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "sandbox/box/owner_name.h"
#include "sandbox/box/uid_range.h"

namespace touchstone {
namespace {

constexpr char kParent[] = "/tmp/";

std::vector<std::string> List(int folder) {
  std::vector<std::string> names;
  DIR* stream = ::fdopendir(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(stream);
  return names;
}

// Removes what goes at once; for a folder that is not empty, makes sure that we may work in it.
bool RemoveOne(int folder, const std::string& name) {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) return true;
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)) {
    // Where this fails, what is inside stays until the janitor of a spawner with more rights comes by.
    if (::fchmodat(folder, name.c_str(), 0700, 0) != 0) return false;
  }
  return false;
}

// Empties a folder that no process uses any more; never follows a link. A hostile tree may be deeper than our
// descriptors or our stack reach, so what lies in a subfolder is moved up first: the depth stays at one.
void Empty(int folder) {
  unsigned moved = 0;
  for (bool progress = true; progress;) {
    progress = false;
    for (const std::string& name : List(folder)) {
      if (RemoveOne(folder, name)) continue;
      const UniqueFd sub(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!sub.valid()) continue;
      for (const std::string& child : List(sub.get())) {
        if (RemoveOne(sub.get(), child)) continue;
        const std::string up = "moved-" + std::to_string(moved++);
        (void)::renameat2(sub.get(), child.c_str(), folder, up.c_str(), RENAME_NOREPLACE);
      }
      if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) progress = true;
    }
  }
}

// Only we and boxes have such folders; a name alone is nothing that root may trust in a folder for everybody.
bool IsOurs(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  return info.st_uid == ::geteuid() || (info.st_uid >= kFirstBoxUid && info.st_uid < kFirstBoxUid + 2 * kBoxSlots);
}

void RemoveTree(const std::string& path) {
  {
    const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder.valid()) Empty(folder.get());
  }
  ::rmdir(path.c_str());
}

}  // namespace

Result<PrivateFolder> PrivateFolder::Create(const std::string& name, uid_t uid) {
  PrivateFolder folder;
  const std::string path = kParent + name;
  if (::mkdir(path.c_str(), 0700) != 0) return ErrnoError(ErrorCode::kUnavailable, "mkdir " + path);
  folder.path_ = path;
  if (uid != ::geteuid() && ::chown(path.c_str(), uid, uid) != 0) return ErrnoError("chown " + path);
  return folder;
}

PrivateFolder::~PrivateFolder() {
  if (!path_.empty()) RemoveTree(path_);
}
PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

void SweepStalePrivateFolders() {
  DIR* stream = ::opendir(kParent);
  if (stream == nullptr) return;
  std::vector<std::string> stale;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string path = kParent + std::string(entry->d_name);
    if (IsStaleOwnerName(entry->d_name) && IsOurs(path)) stale.push_back(path);
  }
  ::closedir(stream);
  for (const std::string& path : stale) RemoveTree(path);
}

}  // namespace touchstone

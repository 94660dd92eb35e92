#include "sandbox/box/uid_range.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "sandbox/box/file_util.h"

namespace touchstone {

bool UidInUse(uid_t first, uint32_t count) {
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return true;
  bool used = false;
  while (const dirent* entry = ::readdir(proc)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    const auto status = ReadKernelFile(std::string("/proc/") + entry->d_name + "/status");
    if (!status || status->find("\nState:\tZ") != std::string::npos) continue;
    const size_t at = status->find("\nUid:");
    if (at == std::string::npos) continue;
    const char* text = status->c_str() + at + 5;
    for (int i = 0; i < 4; ++i) {
      char* end = nullptr;
      const unsigned long uid = std::strtoul(text, &end, 10);
      if (uid >= first && uid - first < count) used = true;
      text = end;
    }
  }
  ::closedir(proc);
  return used;
}

Result<std::unique_ptr<UidRange>> UidRange::Open(const std::string& lock_file, uint32_t slots, uid_t first) {
  std::unique_ptr<UidRange> range(new UidRange);
  range->lock_ = UniqueFd(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!range->lock_.valid()) return ErrnoError(ErrorCode::kUnavailable, "opening " + lock_file);
  range->first_ = first;
  range->locked_.resize(slots);
  return range;
}

Result<uid_t> UidRange::Take() {
  if (!free_.empty()) {
    const uid_t uid = free_.back();
    free_.pop_back();
    return uid;
  }
  for (uint32_t slot = 0; slot < locked_.size(); ++slot) {
    if (locked_[slot]) continue;
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = slot;
    lock.l_len = 1;
    if (::fcntl(lock_.get(), F_OFD_SETLK, &lock) != 0) continue;  // another spawner has it
    const uid_t uid = first_ + 2 * slot;
    if (UidInUse(uid, 2)) {
      lock.l_type = F_UNLCK;
      (void)::fcntl(lock_.get(), F_OFD_SETLK, &lock);
      continue;
    }
    locked_[slot] = true;
    return uid;
  }
  return Error(ErrorCode::kExhausted, "all " + std::to_string(locked_.size()) + " box uids are in use");
}

void UidRange::GiveBack(uid_t uid) { free_.push_back(uid); }

}  // namespace touchstone

// Landlock: a process limits itself to some files, for good. The file-system wall of boxes without a mount namespace.
//
// The headers of the systems we build on know only the first versions, so the numbers are ours and the calls are raw.
#ifndef TOUCHSTONE_SANDBOX_BOX_LANDLOCK_H_
#define TOUCHSTONE_SANDBOX_BOX_LANDLOCK_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace touchstone {

// The version that the kernel offers; 0 without Landlock.
//   1 files · 3 truncation (before that, files that may only be read could be emptied: we ask for 3)
//   4 TCP · 5 device ioctls · 6 signals and abstract sockets to processes outside the box
int LandlockVersion();
inline constexpr int kLandlockNeeded = 3;

// What may be done below (or to) a path; everything else is refused.
class LandlockRules {
 public:
  static Result<LandlockRules> Create();
  Status AllowReading(const std::string& path);  // and executing
  Status AllowDevice(const std::string& path);   // reading and writing, of the file alone
  Status AllowEverything(const std::string& path);
  // For the calling thread and what it starts. Needs no_new_privs or CAP_SYS_ADMIN.
  Status Enforce() const;

 private:
  Status Add(const std::string& path, uint64_t folder_rights, uint64_t file_rights);
  UniqueFd ruleset_;
  uint64_t handled_ = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_LANDLOCK_H_

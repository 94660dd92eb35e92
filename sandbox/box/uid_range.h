// The uids of boxes: box slot k runs its program as 70000 + 2k and its init as 70001 + 2k.
#ifndef TOUCHSTONE_SANDBOX_BOX_UID_RANGE_H_
#define TOUCHSTONE_SANDBOX_BOX_UID_RANGE_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace touchstone {

inline constexpr uid_t kFirstBoxUid = 70000;
inline constexpr uint32_t kBoxSlots = 1000;

// True when a process that is not a zombie has one of `count` uids from this one on (real, effective, saved or of the
// file system). Reads all of /proc: about a millisecond.
bool UidInUse(uid_t first, uint32_t count = 1);

// Hands out uids that no other spawner of this host uses (record locks on one file) and no living process has.
class UidRange {
 public:
  // kUnavailable where the lock file cannot be made.
  static Result<std::unique_ptr<UidRange>> Open(const std::string& lock_file = "/run/touchstone-box-uids.lock",
                                                uint32_t slots = kBoxSlots, uid_t first = kFirstBoxUid);

  // An even uid, the next one belongs to it. kExhausted when all are taken.
  Result<uid_t> Take();
  // Call when no process of the box exists any more.
  void GiveBack(uid_t uid);

 private:
  UidRange() = default;
  uid_t first_ = kFirstBoxUid;
  UniqueFd lock_;
  std::vector<bool> locked_;  // by us: given out or in free_
  std::vector<uid_t> free_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_UID_RANGE_H_

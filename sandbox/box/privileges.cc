#include "sandbox/box/privileges.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace touchstone {

bool SetCapabilities(uint64_t effective_and_permitted) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  for (int half = 0; half < 2; ++half) {
    const auto bits = static_cast<uint32_t>(effective_and_permitted >> (32 * half));
    data[half].effective = bits;
    data[half].permitted = bits;
  }
  return ::syscall(SYS_capset, &header, data) == 0;
}

bool HasCapability(int number) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  return ((data[number / 32].effective >> (number % 32)) & 1U) != 0;
}

bool EmptyBoundingSet() {
  for (int number = 0; number < 64; ++number) {
    if (::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0) return errno == EINVAL;  // past the last one
  }
  return true;
}

bool BecomeUser(uid_t uid) {
  return ::syscall(SYS_setgroups, 0, nullptr) == 0 && ::syscall(SYS_setresgid, uid, uid, uid) == 0 && SetUid(uid);
}

bool SetUid(uid_t uid) { return ::syscall(SYS_setresuid, uid, uid, uid) == 0; }

}  // namespace touchstone

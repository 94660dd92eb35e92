#ifndef TOUCHSTONE_SANDBOX_BOX_PRIVILEGES_H_
#define TOUCHSTONE_SANDBOX_BOX_PRIVILEGES_H_

#include <sys/types.h>

#include <cstdint>

namespace touchstone {

// Capabilities as bits; false with errno on failure. For the calling process, which has one thread.
bool SetCapabilities(uint64_t effective_and_permitted);
// True when capability `number` is in the effective set.
bool HasCapability(int number);
// Takes every capability out of the bounding set, so that no program run later can have it. Needs CAP_SETPCAP.
bool EmptyBoundingSet();
// All uids and gids become `uid`, without supplementary groups. By bare system calls: the C library's functions signal
// every thread that it believes to exist, and in a process made by clone3 it still counts those of the parent (a
// sanitizer has one).
bool BecomeUser(uid_t uid);
// The uids alone.
bool SetUid(uid_t uid);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_PRIVILEGES_H_

// The file system of boxes without a mount namespace: a private folder stands for /tmp, and Landlock for the walls.
#ifndef TOUCHSTONE_SANDBOX_BOX_CONFINE_H_
#define TOUCHSTONE_SANDBOX_BOX_CONFINE_H_

#include <string>

#include "base/result.h"
#include "sandbox/box/landlock.h"
#include "sandbox/box/policy.h"

namespace touchstone {

// Rewrites what the program is told about /tmp (working directory, environment values) to `folder`.
void MoveTmp(const std::string& folder, Program& program);

// kUnavailable for a bind that only a mount could make: its target is not its source.
Status CheckBindsWithoutMounts(const Policy& policy);

// Reading of the policy's binds, everything in `folder`, the harmless devices.
Result<LandlockRules> RulesWithoutMounts(const Policy& policy, const std::string& folder);

// The same inside a file system made by BuildRoot, where all there is may be seen.
Result<LandlockRules> RulesWithMounts(const Policy& policy);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_CONFINE_H_

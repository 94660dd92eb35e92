#ifndef TOUCHSTONE_SANDBOX_BOX_OWNER_NAME_H_
#define TOUCHSTONE_SANDBOX_BOX_OWNER_NAME_H_

#include <string>

namespace touchstone {

// The name under which this process leaves things on the host: "touchstone-box.<pid namespace>.<pid>.<start time>",
// enough for anybody to see later whether their owner still lives.
std::string OwnerName();

// True for such a name, whatever follows it after a further dot, when its owner lived in our pid namespace and is dead.
bool IsStaleOwnerName(const std::string& name);
bool IsOwnerName(const std::string& name);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_OWNER_NAME_H_

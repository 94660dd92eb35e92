#ifndef TOUCHSTONE_BASE_CPU_MODEL_H_
#define TOUCHSTONE_BASE_CPU_MODEL_H_

#include <optional>
#include <string>

namespace touchstone {

// The name of this host's processor, from /proc/cpuinfo. None where it is not told. Reads the file each time.
std::optional<std::string> CpuModel();

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_CPU_MODEL_H_

#include "sandbox/box/owner_name.h"

#include <unistd.h>

#include <string_view>
#include <vector>

#include "sandbox/box/file_util.h"

namespace touchstone {
namespace {

constexpr std::string_view kPrefix = "touchstone-box.";

// In clock ticks since boot (field 22 of /proc/PID/stat); empty when there is no such process or only its zombie.
std::string StartTime(const std::string& pid) {
  const auto stat = ReadKernelFile("/proc/" + pid + "/stat");
  if (!stat) return {};
  size_t at = stat->rfind(')');  // the second field is a name with anything in it, the third the state
  if (at == std::string::npos || stat->compare(at, 3, ") Z") == 0) return {};
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat->find(' ', at + 1);
  if (at == std::string::npos) return {};
  return stat->substr(at + 1, stat->find(' ', at + 1) - at - 1);
}

// "pid:[4026531836]" → "4026531836".
std::string PidNamespace() {
  char link[64] = {};
  const ssize_t size = ::readlink("/proc/self/ns/pid", link, sizeof(link) - 1);
  std::string digits;
  for (ssize_t i = 0; i < size; ++i) {
    if (link[i] >= '0' && link[i] <= '9') digits += link[i];
  }
  return digits;
}

}  // namespace

std::string OwnerName() {
  const std::string pid = std::to_string(::getpid());
  return std::string(kPrefix) + PidNamespace() + "." + pid + "." + StartTime(pid);
}

bool IsOwnerName(const std::string& name) { return name.starts_with(kPrefix); }

bool IsStaleOwnerName(const std::string& name) {
  if (!IsOwnerName(name)) return false;
  std::vector<std::string> parts;
  for (size_t at = kPrefix.size(); at <= name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    parts.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  if (parts.size() < 3 || parts[0] != PidNamespace()) return false;
  for (const std::string& part : parts) {
    if (part.empty() || part.find_first_not_of("0123456789") != std::string::npos) return false;
  }
  return StartTime(parts[1]) != parts[2];
}

}  // namespace touchstone

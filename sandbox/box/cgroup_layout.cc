#include "sandbox/box/cgroup_layout.h"

#include <vector>

namespace touchstone {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool HasPart(std::string_view list, std::string_view name) {
  for (std::string_view part : Split(list, ',')) {
    if (part == name) return true;
  }
  return false;
}

// The path of our group in the hierarchy that has `controller` ("" for v2), from lines "id:controllers:path".
std::string_view OwnPath(std::string_view self_cgroup, std::string_view controller) {
  for (std::string_view line : Split(self_cgroup, '\n')) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() && line.starts_with("0:") : HasPart(controllers, controller)) {
      return line.substr(second + 1);
    }
  }
  return {};
}

// A mount shows its hierarchy from `root` down; the part of `path` below it is what follows the mount point.
std::string Join(std::string_view mount_point, std::string_view root, std::string_view path) {
  if (root != "/" && path.starts_with(root)) path.remove_prefix(root.size());
  std::string folder(mount_point);
  if (path != "/" && !path.empty()) folder += path;
  return folder;
}

}  // namespace

CgroupLayout ParseCgroupLayout(std::string_view self_cgroup, std::string_view mountinfo) {
  CgroupLayout layout;
  for (std::string_view line : Split(mountinfo, '\n')) {
    // "36 35 98:0 /root /mount/point options optional… - type source super_options"
    const std::vector<std::string_view> parts = Split(line, ' ');
    size_t dash = 6;
    while (dash < parts.size() && parts[dash] != "-") ++dash;
    if (dash + 3 >= parts.size()) continue;
    const std::string_view root = parts[3];
    const std::string_view mount_point = parts[4];
    const std::string_view type = parts[dash + 1];
    const std::string_view options = parts[dash + 3];
    if (type == "cgroup2") {
      if (layout.v2.empty()) layout.v2 = Join(mount_point, root, OwnPath(self_cgroup, ""));
      continue;
    }
    if (type != "cgroup") continue;
    const auto take = [&](std::string_view controller, std::string& folder) {
      if (folder.empty() && HasPart(options, controller)) {
        folder = Join(mount_point, root, OwnPath(self_cgroup, controller));
      }
    };
    take("memory", layout.memory_v1);
    take("pids", layout.pids_v1);
    take("cpuacct", layout.cpuacct_v1);
    take("cpuset", layout.cpuset_v1);
    take("freezer", layout.freezer_v1);
  }
  return layout;
}

}  // namespace touchstone

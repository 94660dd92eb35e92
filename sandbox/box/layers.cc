#include "sandbox/box/layers.h"

#include <array>

namespace touchstone {
namespace {

constexpr std::array<std::string_view, kLayerCount> kLayerNames = {
    "own_uid",        "pid_namespace",  "net_namespace", "ipc_namespace",     "mount_namespace", "uts_namespace",
    "user_namespace", "seccomp",        "landlock",      "no_new_privileges", "resource_limits", "memory_cgroup",
    "pids_cgroup",    "cpu_accounting", "freezer",       "cpu_set",           "close_on_exec",   "parent_death"};

constexpr std::array<std::string_view, 3> kLevelNames = {"none", "reduced", "full"};

}  // namespace

std::string_view ToString(Layer layer) { return kLayerNames.at(static_cast<size_t>(layer)); }

std::optional<Layer> LayerFromString(std::string_view name) {
  for (size_t i = 0; i < kLayerNames.size(); ++i) {
    if (kLayerNames[i] == name) return static_cast<Layer>(i);
  }
  return std::nullopt;
}

std::vector<std::string> LayerSet::Names() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < kLayerNames.size(); ++i) {
    if (Has(static_cast<Layer>(i))) names.emplace_back(kLayerNames[i]);
  }
  return names;
}

Error LayerError(Layer layer, std::string_view step) {
  return ErrnoError(ErrorCode::kUnavailable, "layer " + std::string(ToString(layer)) + ": " + std::string(step));
}

std::string_view ToString(Level level) { return kLevelNames.at(static_cast<size_t>(level)); }

std::optional<Level> LevelFromString(std::string_view name) {
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == name) return static_cast<Level>(i);
  }
  return std::nullopt;
}

LayerSet LayersOf(Level level) {
  LayerSet layers;
  if (level == Level::kNone) return layers;
  for (Layer layer :
       {Layer::kSeccomp, Layer::kNoNewPrivileges, Layer::kResourceLimits, Layer::kCloseOnExec, Layer::kParentDeath}) {
    layers.Add(layer);
  }
  if (level == Level::kReduced) {
    layers.Add(Layer::kLandlock);
    return layers;
  }
  for (Layer layer :
       {Layer::kOwnUid, Layer::kPidNamespace, Layer::kNetNamespace, Layer::kIpcNamespace, Layer::kMountNamespace,
        Layer::kUtsNamespace, Layer::kMemoryCgroup, Layer::kPidsCgroup, Layer::kCpuAccounting, Layer::kFreezer}) {
    layers.Add(layer);
  }
  return layers;
}

Level LevelReached(LayerSet active) {
  for (Level level : {Level::kFull, Level::kReduced}) {
    if (active.Contains(LayersOf(level))) return level;
  }
  return Level::kNone;
}

}  // namespace touchstone

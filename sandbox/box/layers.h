#ifndef TOUCHSTONE_SANDBOX_BOX_LAYERS_H_
#define TOUCHSTONE_SANDBOX_BOX_LAYERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace touchstone {

// One protection of a box. Values travel in records: do not change them.
enum class Layer : uint32_t {
  kOwnUid = 0,  // a uid that no other living process uses; never 0, which opens /proc/sys without any capability
  kPidNamespace = 1,
  kNetNamespace = 2,
  kIpcNamespace = 3,
  kMountNamespace = 4,  // pivot_root onto a tmpfs with read-only binds
  kUtsNamespace = 5,
  kUserNamespace = 6,  // only where the spawner is not root
  kSeccomp = 7,
  kLandlock = 8,
  kNoNewPrivileges = 9,
  kResourceLimits = 10,
  kMemoryCgroup = 11,
  kPidsCgroup = 12,
  kCpuAccounting = 13,
  kFreezer = 14,
  kCpuSet = 15,
  kCloseOnExec = 16,  // close_range: no inherited descriptor
  kParentDeath = 17,  // the box dies with the spawner
};
inline constexpr int kLayerCount = 18;

std::string_view ToString(Layer layer);
std::optional<Layer> LayerFromString(std::string_view name);

// A set of layers as bits.
class LayerSet {
 public:
  constexpr LayerSet() = default;
  constexpr explicit LayerSet(uint32_t bits) : bits_(bits) {}
  constexpr bool Has(Layer layer) const { return ((bits_ >> static_cast<uint32_t>(layer)) & 1U) != 0; }
  constexpr void Add(Layer layer) { bits_ |= 1U << static_cast<uint32_t>(layer); }
  constexpr void Remove(Layer layer) { bits_ &= ~(1U << static_cast<uint32_t>(layer)); }
  constexpr uint32_t bits() const { return bits_; }
  constexpr bool Contains(LayerSet other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr LayerSet Without(LayerSet other) const { return LayerSet(bits_ & ~other.bits_); }
  constexpr LayerSet operator|(LayerSet other) const { return LayerSet(bits_ | other.bits_); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const LayerSet&) const = default;
  std::vector<std::string> Names() const;

 private:
  uint32_t bits_ = 0;
};

// The error of a layer that was wanted and failed in `step`, with errno: kUnavailable, and it names the layer.
Error LayerError(Layer layer, std::string_view step);

// Named sets of layers (design: V12). A level is reached when every layer it names is active.
//   full     namespaces, own uid, seccomp, cgroups with the freezer
//   reduced  containers without CAP_SYS_ADMIN: Landlock, seccomp, rlimits
//   none     a plain process: for debugging only
enum class Level : uint32_t { kNone = 0, kReduced = 1, kFull = 2 };
std::string_view ToString(Level level);
std::optional<Level> LevelFromString(std::string_view name);
LayerSet LayersOf(Level level);
// The highest level whose layers are all in `active`.
Level LevelReached(LayerSet active);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_LAYERS_H_

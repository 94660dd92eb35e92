#ifndef TOUCHSTONE_REWARD_JUDGE_CPU_CPU_DEVICE_H_
#define TOUCHSTONE_REWARD_JUDGE_CPU_CPU_DEVICE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "reward/judge/cpu/workers.h"
#include "reward/judge/device.h"

namespace touchstone {

// Host memory as the device. Shared blocks are memfds whose size is sealed; the judge touches what it uses before the
// runner does, so the pages are charged to the judge. Not thread-safe.
class CpuDevice final : public Device {
 public:
  // `cpus`: the cores that may fill and compare; the first is the caller's own.
  explicit CpuDevice(const std::vector<int>& cpus = {0}) : workers_(cpus) {}

  Result<std::unique_ptr<DeviceBlock>> AllocateShared(size_t bytes) override;
  Result<std::unique_ptr<DeviceBlock>> AllocatePrivate(size_t bytes) override;
  Status Fill(DeviceBlock& block, std::span<const Filling> fillings, std::span<const Poisoning> poisonings) override;
  void Forget() override;
  Result<std::vector<uint64_t>> CountChanged(const DeviceBlock& block, std::span<const Filling> fillings) override;
  Result<std::vector<uint64_t>> CountPoison(const DeviceBlock& block, std::span<const Poisoning> poisonings) override;
  Result<std::vector<CompareReport>> CompareArrays(std::span<const ArrayPair> pairs) override;
  Status Gather(const DeviceBlock& from, const StridedArray& array, DeviceBlock& to, uint64_t offset) override;
  void Idle() override { workers_.AwaitSleep(); }
  Status ReadTiles(const DeviceBlock& block, std::span<const Region> tiles, std::span<std::byte> out) override;

 private:
  // What the last fills wrote, so that the second side and the search for changes need not generate it again. Bounded.
  struct Master {
    InputStream stream;
    std::vector<std::byte> bytes;
    bool made = false;  // otherwise `bytes` wait for the elements of `stream`
  };
  Master& MasterOf(const InputStream& stream);
  // The masters of all fillings, after a look at where these lie.
  Result<std::vector<Master*>> MastersOf(const DeviceBlock& block, std::span<const Filling> fillings);

  Workers workers_;
  std::map<StreamKey, Master> masters_;
  std::multimap<size_t, std::vector<std::byte>> spare_bytes_;  // of forgotten masters, by size: used again
  size_t held_bytes_ = 0;                                      // of masters and spare ones
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_CPU_CPU_DEVICE_H_

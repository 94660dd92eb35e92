#ifndef TOUCHSTONE_REWARD_JUDGE_CPU_CPU_DEVICE_H_
#define TOUCHSTONE_REWARD_JUDGE_CPU_CPU_DEVICE_H_

#include <array>
#include <cstddef>
#include <memory>
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
  Status Fill(DeviceBlock& block, uint64_t offset, const InputStream& stream) override;
  void Forget() override;
  Status Poison(DeviceBlock& block, Region region, const StreamKey& key) override;
  Result<uint64_t> CountChanged(const DeviceBlock& block, uint64_t offset, const InputStream& stream) override;
  Result<uint64_t> CountPoison(const DeviceBlock& block, Region region, const StreamKey& key) override;
  Status ReadTiles(const DeviceBlock& block, std::span<const Region> tiles, std::span<std::byte> out) override;
  Status Gather(const DeviceBlock& from, const StridedArray& array, DeviceBlock& to, uint64_t offset) override;
  Result<CompareReport> CompareArrays(const DeviceBlock& actual, uint64_t actual_offset, DType dtype,
                                      const DeviceBlock& expected, uint64_t expected_offset, DType expected_dtype,
                                      uint64_t count, const Tolerance& tolerance) override;

 private:
  // What the last fills wrote, so that the second side and the search for changes need not generate it again. Bounded.
  struct Master {
    InputStream stream;
    std::vector<std::byte> bytes;
  };
  const std::vector<std::byte>& MasterOf(const InputStream& stream);

  // Poison is this much random data, repeated: as fresh, and as fast as memory.
  static constexpr size_t kPoisonPeriod = 4096;
  using PoisonPage = std::array<std::byte, kPoisonPeriod>;
  const PoisonPage& PoisonOf(const StreamKey& key);

  Workers workers_;
  std::vector<std::unique_ptr<Master>> masters_;
  std::vector<std::unique_ptr<Master>> spare_masters_;  // their memory is used again
  size_t held_bytes_ = 0;                               // of masters and spare ones
  StreamKey poison_key_{};
  bool has_poison_ = false;
  PoisonPage poison_page_{};
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_CPU_CPU_DEVICE_H_

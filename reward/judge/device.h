// The seam between the judge's state machine and a kind of device. CpuDevice implements it here, CudaDevice for GPUs.
#ifndef TOUCHSTONE_REWARD_JUDGE_DEVICE_H_
#define TOUCHSTONE_REWARD_JUDGE_DEVICE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "reward/judge/generator.h"
#include "reward/verdict/compare.h"

namespace touchstone {

// Memory of the device. A shared block has a descriptor that a runner maps; a private one never leaves the judge.
class DeviceBlock {
 public:
  virtual ~DeviceBlock() = default;
  virtual int fd() const = 0;  // -1 for private blocks
  virtual size_t size() const = 0;
};

struct Region {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// A strided array inside a block, as a runner reported it and the judge has checked it.
struct StridedArray {
  uint64_t offset = 0;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;  // in elements
};

class Device {
 public:
  virtual ~Device() = default;

  virtual Result<std::unique_ptr<DeviceBlock>> AllocateShared(size_t bytes) = 0;
  virtual Result<std::unique_ptr<DeviceBlock>> AllocatePrivate(size_t bytes) = 0;

  // Writes the elements that `stream` describes, from its element 0 on, at `offset`.
  virtual Status Fill(DeviceBlock& block, uint64_t offset, const InputStream& stream) = 0;
  // The streams filled so far will not be asked for again: what was kept of them may go.
  virtual void Forget() = 0;
  // Writes random bytes that only the judge can foretell.
  virtual Status Poison(DeviceBlock& block, Region region, const StreamKey& key) = 0;
  // Number of elements at `offset` that differ from what Fill wrote.
  virtual Result<uint64_t> CountChanged(const DeviceBlock& block, uint64_t offset, const InputStream& stream) = 0;
  // Number of bytes of the region that still are what Poison wrote.
  virtual Result<uint64_t> CountPoison(const DeviceBlock& block, Region region, const StreamKey& key) = 0;
  // Copies scattered small regions out; returns when all have arrived. The clock of a window ends here (design: V4).
  virtual Status ReadTiles(const DeviceBlock& block, std::span<const Region> tiles, std::span<std::byte> out) = 0;
  // Copies a strided array of a shared block densely into a private one.
  virtual Status Gather(const DeviceBlock& from, const StridedArray& array, DeviceBlock& to, uint64_t offset) = 0;
  virtual Result<CompareReport> CompareArrays(const DeviceBlock& actual, uint64_t actual_offset, DType dtype,
                                              const DeviceBlock& expected, uint64_t expected_offset,
                                              DType expected_dtype, uint64_t count, const Tolerance& tolerance) = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_DEVICE_H_

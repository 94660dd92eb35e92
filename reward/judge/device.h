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

// What a block holds for one tensor before a turn: the elements of `stream`, from its element 0 on, at `offset`. Every
// (call, tensor) has a key of its own, so none stands twice in a batch.
struct Filling {
  uint64_t offset = 0;
  const InputStream* stream = nullptr;
};

// The same for memory that a side has to write or to leave alone: random bytes that only the judge can foretell.
struct Poisoning {
  Region region;
  StreamKey key{};
};

// Two dense arrays of `count` elements: an output, and what is expected of it.
struct ArrayPair {
  const DeviceBlock* actual = nullptr;
  uint64_t actual_offset = 0;
  DType dtype = DType::kFloat32;
  const DeviceBlock* expected = nullptr;
  uint64_t expected_offset = 0;
  DType expected_dtype = DType::kFloat32;
  uint64_t count = 0;
  Tolerance tolerance;
};

// The functions that take spans do all of it as one parallel piece of work: what belongs to one window goes into one
// call. Answers have the order of the questions. Everything blocks; one thread at a time.
class Device {
 public:
  virtual ~Device() = default;

  virtual Result<std::unique_ptr<DeviceBlock>> AllocateShared(size_t bytes) = 0;
  virtual Result<std::unique_ptr<DeviceBlock>> AllocatePrivate(size_t bytes) = 0;

  // Writes all of it.
  virtual Status Fill(DeviceBlock& block, std::span<const Filling> fillings, std::span<const Poisoning> poisonings) = 0;
  // The streams filled so far will not be asked for again: what was kept of them may go.
  virtual void Forget() = 0;
  // For each filling the number of elements that differ from what Fill wrote.
  virtual Result<std::vector<uint64_t>> CountChanged(const DeviceBlock& block, std::span<const Filling> fillings) = 0;
  // For each region the number of bytes that still are what Fill wrote.
  virtual Result<std::vector<uint64_t>> CountPoison(const DeviceBlock& block,
                                                    std::span<const Poisoning> poisonings) = 0;
  virtual Result<std::vector<CompareReport>> CompareArrays(std::span<const ArrayPair> pairs) = 0;
  // Copies a strided array of a shared block densely into a private one.
  virtual Status Gather(const DeviceBlock& from, const StridedArray& array, DeviceBlock& to, uint64_t offset) = 0;

  // Returns when nothing of the device does anything any more, nor will before it is asked to: from here on a side may
  // be timed.
  virtual void Idle() = 0;
  // Copies scattered small regions out; returns when all have arrived. The clock of a window ends here (design: V4).
  virtual Status ReadTiles(const DeviceBlock& block, std::span<const Region> tiles, std::span<std::byte> out) = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_DEVICE_H_

#ifndef TOUCHSTONE_REWARD_JUDGE_LAYOUT_H_
#define TOUCHSTONE_REWARD_JUDGE_LAYOUT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "reward/judge/device.h"
#include "reward/judge/generator.h"
#include "reward/task/task.h"
#include "sandbox/runner/protocol.h"

namespace touchstone {

// One tensor of a call, at `offset` from the start of its set. Dense, row-major, 64-byte aligned.
struct TensorLayout {
  std::string name;
  DType dtype = DType::kFloat32;
  TensorRole role = TensorRole::kInput;
  std::vector<int64_t> dims;
  uint64_t count = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;
};

// Where everything of one call lies: tensors in the order of the signature with a guard before, between and after them.
// Set s of a block begins at s * stride.
struct SetLayout {
  std::vector<TensorLayout> tensors;  // inputs, then the outputs that are not in-place inputs
  std::vector<size_t> outputs;        // for each output of the task: its index in `tensors`
  std::vector<Region> guards;         // from the start of the set
  uint64_t stride = 0;
  DimValues dims;

  uint64_t Offset(uint64_t set, size_t tensor) const { return set * stride + tensors[tensor].offset; }
};

// kInvalidArgument when the task has more tensors, dims or ranks than a page holds.
Result<SetLayout> MakeLayout(const Task& task, const DimValues& dims);

// Replacements of declared distributions, by input name.
using DistributionOverrides = std::map<std::string, Distribution>;

// The elements of every input of call number `call`, in the order of the signature.
Result<std::vector<InputStream>> MakeInputs(const Task& task, const SetLayout& layout, const SecretKey& key,
                                            uint64_t call, const DistributionOverrides& overrides);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_LAYOUT_H_

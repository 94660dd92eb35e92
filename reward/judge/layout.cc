#include "reward/judge/layout.h"

namespace touchstone {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kGuardBytes = 256;

uint64_t AlignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

Result<TensorLayout> LayOut(const TensorSpec& spec, TensorRole role, const DimValues& dims) {
  TensorLayout tensor;
  tensor.name = spec.name;
  tensor.dtype = spec.dtype;
  tensor.role = role;
  TOUCHSTONE_ASSIGN(tensor.dims, EvaluateShape(spec, dims));
  if (tensor.dims.size() > kMaxRank) {
    return Error(ErrorCode::kInvalidArgument,
                 "tensor '" + spec.name + "' has more than " + std::to_string(kMaxRank) + " dims");
  }
  tensor.count = 1;
  for (const int64_t dim : tensor.dims) tensor.count *= static_cast<uint64_t>(dim);
  tensor.bytes = tensor.count * SizeOf(tensor.dtype);
  return tensor;
}

}  // namespace

Result<SetLayout> MakeLayout(const Task& task, const DimValues& dims) {
  SetLayout layout;
  layout.dims = dims;
  for (const TensorSpec& input : task.inputs) {
    TOUCHSTONE_ASSIGN(TensorLayout tensor,
                      LayOut(input, input.in_place ? TensorRole::kInOut : TensorRole::kInput, dims));
    layout.tensors.push_back(std::move(tensor));
  }
  for (const OutputSpec& output : task.outputs) {
    size_t index = 0;
    while (index < task.inputs.size() &&
           !(task.inputs[index].in_place && task.inputs[index].name == output.tensor.name)) {
      ++index;
    }
    if (index == task.inputs.size()) {
      TOUCHSTONE_ASSIGN(TensorLayout tensor, LayOut(output.tensor, TensorRole::kOutput, dims));
      index = layout.tensors.size();
      layout.tensors.push_back(std::move(tensor));
    }
    layout.outputs.push_back(index);
  }
  if (layout.tensors.size() > kMaxTensors || dims.size() > kMaxDims) {
    return Error(ErrorCode::kInvalidArgument, "task '" + task.id + "' has more than " + std::to_string(kMaxTensors) +
                                                  " tensors or " + std::to_string(kMaxDims) + " dims");
  }
  uint64_t at = 0;
  for (TensorLayout& tensor : layout.tensors) {
    layout.guards.push_back({at, kGuardBytes});
    tensor.offset = at + kGuardBytes;
    const uint64_t end = tensor.offset + tensor.bytes;
    at = AlignUp(end, kAlignment);
    if (at > end) layout.guards.push_back({end, at - end});
  }
  layout.guards.push_back({at, kGuardBytes});
  layout.stride = at + kGuardBytes;
  return layout;
}

Result<std::vector<InputStream>> MakeInputs(const Task& task, const SetLayout& layout, const SecretKey& key,
                                            uint64_t call, const DistributionOverrides& overrides) {
  std::vector<InputStream> streams;
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    const TensorLayout& tensor = layout.tensors[i];
    InputStream stream;
    const auto replaced = overrides.find(tensor.name);
    const Distribution& declared = replaced != overrides.end() ? replaced->second : task.inputs[i].distribution;
    TOUCHSTONE_ASSIGN(stream.distribution, Resolve(declared, layout.dims));
    stream.key = DeriveStreamKey(key, StreamPurpose::kInput, call, static_cast<uint32_t>(i));
    stream.dtype = tensor.dtype;
    stream.count = tensor.count;
    stream.row_length = tensor.dims.empty() ? 1 : static_cast<uint64_t>(tensor.dims.back());
    streams.push_back(std::move(stream));
  }
  return streams;
}

}  // namespace touchstone

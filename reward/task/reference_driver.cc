#include "reward/task/reference_driver.h"

#include <algorithm>
#include <cstring>

#include "reward/judge/generator.h"

namespace touchstone {
namespace {

constexpr uint64_t kAlignment = 256;

uint64_t AlignUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

struct Layout {
  std::vector<TensorPlace> tensors;  // inputs, then the outputs that are not in place
  uint64_t set_stride = 0;
  uint64_t arena_bytes = 0;  // for both precisions: outputs in float64 and as much again for intermediate results
};

Result<TensorPlace> Place(const TensorSpec& tensor, TensorRole role, const DimValues& dims) {
  TOUCHSTONE_ASSIGN(const auto shape, EvaluateShape(tensor, dims));
  TensorPlace place{};
  place.dtype = static_cast<uint32_t>(tensor.dtype);
  place.role = static_cast<uint32_t>(role);
  place.rank = static_cast<uint32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), place.dims);
  place.bytes = SizeOf(tensor.dtype);
  for (const int64_t length : shape) place.bytes *= static_cast<uint64_t>(length);
  return place;
}

Result<Layout> LayOut(const Task& task, const DimValues& dims) {
  Layout layout;
  uint64_t output_bytes = 0;
  for (const TensorSpec& input : task.inputs) {
    TOUCHSTONE_ASSIGN(TensorPlace place, Place(input, input.in_place ? TensorRole::kInOut : TensorRole::kInput, dims));
    place.offset = layout.set_stride;
    layout.set_stride += AlignUp(place.bytes);
    layout.tensors.push_back(place);
  }
  for (const OutputSpec& output : task.outputs) {
    TOUCHSTONE_ASSIGN(TensorPlace place, Place(output.tensor, TensorRole::kOutput, dims));
    output_bytes += AlignUp(place.bytes * sizeof(double) / std::min(SizeOf(output.tensor.dtype), sizeof(double)));
    if (!output.tensor.in_place) layout.tensors.push_back(place);
  }
  layout.arena_bytes = 4 * output_bytes + (uint64_t{1} << 20);
  return layout;
}

// Copies a strided array densely; `from` is its first element.
void CopyDense(const OutputPlace& place, size_t element, uint32_t axis, const std::byte* from, std::byte*& to) {
  if (axis == place.rank) {
    std::memcpy(to, from, element);
    to += element;
    return;
  }
  for (int64_t i = 0; i < place.dims[axis]; ++i) {
    CopyDense(place, element, axis + 1, from + i * place.strides[axis] * static_cast<int64_t>(element), to);
  }
}

std::string ShapeText(const int64_t* dims, size_t rank) {
  std::string text;
  for (size_t i = 0; i < rank; ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return "[" + text + "]";
}

}  // namespace

Result<uint64_t> ReferenceDriver::BlockBytes(const Task& task, const DimValues& dims) {
  TOUCHSTONE_ASSIGN(const Layout layout, LayOut(task, dims));
  return kSets * layout.set_stride + layout.arena_bytes;
}

Result<ReferenceDriver> ReferenceDriver::Create(const Task& task, const DimValues& dims, RunnerPort& port) {
  TOUCHSTONE_ASSIGN(const Layout layout, LayOut(task, dims));
  CommandPage& page = port.command();
  page.threads = 1;
  page.block_bytes = port.block_bytes();
  page.set_stride = layout.set_stride;
  page.arena_offset = kSets * layout.set_stride;
  page.arena_bytes = layout.arena_bytes;
  if (page.arena_offset + page.arena_bytes > port.block_bytes()) {
    return Error(ErrorCode::kInvalidArgument,
                 "block of " + std::to_string(port.block_bytes()) + " bytes is smaller than BlockBytes()");
  }
  page.dim_count = static_cast<uint32_t>(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) page.dims[d] = dims[d].second;
  page.tensor_count = static_cast<uint32_t>(layout.tensors.size());
  std::copy(layout.tensors.begin(), layout.tensors.end(), page.tensors);
  if (auto loaded = port.Load(task.reference); !loaded.ok()) return loaded.error().Within(task.id + ": reference");
  return ReferenceDriver(task, dims, port);
}

Result<std::vector<TensorData>> ReferenceDriver::MakeInputs(
    const SecretKey& key, uint64_t call, const std::map<std::string, Distribution>& replacements) const {
  std::vector<TensorData> inputs;
  for (size_t i = 0; i < task_->inputs.size(); ++i) {
    const TensorSpec& spec = task_->inputs[i];
    const auto replaced = replacements.find(spec.name);
    TensorData data;
    data.dtype = spec.dtype;
    TOUCHSTONE_ASSIGN(data.dims, EvaluateShape(spec, dims_));
    InputStream stream;
    stream.key = DeriveStreamKey(key, StreamPurpose::kInput, call, static_cast<uint32_t>(i));
    stream.dtype = spec.dtype;
    TOUCHSTONE_ASSIGN(stream.distribution,
                      Resolve(replaced != replacements.end() ? replaced->second : spec.distribution, dims_));
    stream.count = 1;
    for (const int64_t length : data.dims) stream.count *= static_cast<uint64_t>(length);
    stream.row_length = data.row_length();
    data.bytes.resize(stream.count * SizeOf(spec.dtype));
    Generate(stream, 0, stream.count, data.bytes.data());
    inputs.push_back(std::move(data));
  }
  return inputs;
}

void ReferenceDriver::Store(uint64_t set, const std::vector<TensorData>& inputs) {
  const CommandPage& page = port_->command();
  for (size_t i = 0; i < inputs.size(); ++i) {
    TOUCHSTONE_CHECK(inputs[i].bytes.size() == page.tensors[i].bytes, "inputs are made for these dims");
    std::memcpy(port_->block() + set * page.set_stride + page.tensors[i].offset, inputs[i].bytes.data(),
                inputs[i].bytes.size());
  }
}

TensorData ReferenceDriver::Read(uint64_t set, size_t input) const {
  const CommandPage& page = port_->command();
  const TensorPlace& place = page.tensors[input];
  const std::byte* from = port_->block() + set * page.set_stride + place.offset;
  TensorData data;
  data.dtype = task_->inputs[input].dtype;
  data.dims.assign(place.dims, place.dims + place.rank);
  data.bytes.assign(from, from + place.bytes);
  return data;
}

Result<TensorData> ReferenceDriver::Take(const OutputPlace& place, const OutputSpec& spec, DType dtype) const {
  TOUCHSTONE_ASSIGN(const auto shape, EvaluateShape(spec.tensor, dims_));
  const auto wrong = [&](const std::string& what) {
    return Error(ErrorCode::kInvalidArgument, task_->id + ": output '" + spec.tensor.name + "' of the reference" +
                                                  (dtype == spec.tensor.dtype ? " " : " in float64 ") + what);
  };
  if (place.dtype != static_cast<uint32_t>(dtype)) {
    return wrong("has dtype number " + std::to_string(place.dtype) + " instead of " + std::string(ToString(dtype)));
  }
  if (place.rank > kMaxRank || !std::equal(shape.begin(), shape.end(), place.dims, place.dims + place.rank)) {
    return wrong("has shape " + ShapeText(place.dims, std::min(place.rank, kMaxRank)) + " instead of " +
                 ShapeText(shape.data(), shape.size()));
  }
  uint64_t last = 0;
  TensorData data;
  data.dtype = dtype;
  data.dims = shape;
  uint64_t count = 1;
  for (uint32_t axis = 0; axis < place.rank; ++axis) {
    if (place.strides[axis] < 0 || static_cast<uint64_t>(place.strides[axis]) > port_->block_bytes()) {
      return wrong("has a stride of " + std::to_string(place.strides[axis]));
    }
    count *= static_cast<uint64_t>(place.dims[axis]);
    last += static_cast<uint64_t>(place.dims[axis] - 1) * static_cast<uint64_t>(place.strides[axis]);
  }
  const size_t element = SizeOf(dtype);
  if (place.offset > port_->block_bytes() || (last + 1) * element > port_->block_bytes() - place.offset) {
    return wrong("lies outside of the block");
  }
  data.bytes.resize(count * element);
  std::byte* to = data.bytes.data();
  CopyDense(place, element, 0, port_->block() + place.offset, to);
  return data;
}

Result<std::vector<TensorData>> ReferenceDriver::Run(uint64_t set) {
  CommandPage& page = port_->command();
  page.calls = 1;
  page.order[0] = static_cast<uint32_t>(set);
  auto places = port_->Execute(Opcode::kRun);
  if (!places.ok()) return places.error().Within(task_->id + ": reference");
  std::vector<TensorData> outputs;
  for (size_t i = 0; i < task_->inputs.size(); ++i) {
    if (task_->inputs[i].in_place) outputs.push_back(Read(set, i));
  }
  const size_t in_place = outputs.size();
  if (places->size() != task_->outputs.size() - in_place) {
    return Error(ErrorCode::kInvalidArgument, task_->id + ": the reference returns " + std::to_string(places->size()) +
                                                  " tensors instead of " +
                                                  std::to_string(task_->outputs.size() - in_place));
  }
  for (size_t i = 0; i < places->size(); ++i) {
    const OutputSpec& spec = task_->outputs[in_place + i];
    TOUCHSTONE_ASSIGN(TensorData data, Take((*places)[i], spec, spec.tensor.dtype));
    outputs.push_back(std::move(data));
  }
  return outputs;
}

Result<std::vector<TensorData>> ReferenceDriver::Oracle(uint64_t set) {
  CommandPage& page = port_->command();
  page.calls = 1;
  page.order[0] = static_cast<uint32_t>(set);
  auto places = port_->Execute(Opcode::kOracle);
  if (!places.ok()) return places.error().Within(task_->id + ": reference in float64");
  if (places->size() != task_->outputs.size()) {
    return Error(ErrorCode::kInvalidArgument, task_->id + ": the reference in float64 gives " +
                                                  std::to_string(places->size()) + " outputs instead of " +
                                                  std::to_string(task_->outputs.size()));
  }
  std::vector<TensorData> outputs;
  for (size_t i = 0; i < places->size(); ++i) {
    const OutputSpec& spec = task_->outputs[i];
    const DType dtype = IsFloating(spec.tensor.dtype) ? DType::kFloat64 : spec.tensor.dtype;
    TOUCHSTONE_ASSIGN(TensorData data, Take((*places)[i], spec, dtype));
    outputs.push_back(std::move(data));
  }
  return outputs;
}

}  // namespace touchstone

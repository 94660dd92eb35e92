#include "reward/task/tensor_data.h"

#include <cstring>

#include "base/minifloat.h"

namespace touchstone {
namespace {

template <typename T>
double Load(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof(value));
  return static_cast<double>(value);
}

template <typename T>
void Store(T value, std::byte* at) {
  std::memcpy(at, &value, sizeof(value));
}

}  // namespace

double FloatAt(const TensorData& tensor, uint64_t index) {
  const std::byte* at = tensor.bytes.data() + index * SizeOf(tensor.dtype);
  if (tensor.dtype == DType::kFloat32) return Load<float>(at);
  if (tensor.dtype == DType::kFloat64) return Load<double>(at);
  uint32_t bits = 0;
  std::memcpy(&bits, at, SizeOf(tensor.dtype));
  return DecodeMinifloat(tensor.dtype, bits);
}

void SetFloatAt(TensorData& tensor, uint64_t index, double value) {
  std::byte* at = tensor.bytes.data() + index * SizeOf(tensor.dtype);
  if (tensor.dtype == DType::kFloat32) return Store(static_cast<float>(value), at);
  if (tensor.dtype == DType::kFloat64) return Store(value, at);
  const uint32_t bits = EncodeMinifloat(tensor.dtype, static_cast<float>(value));
  std::memcpy(at, &bits, SizeOf(tensor.dtype));
}

}  // namespace touchstone

#ifndef TOUCHSTONE_REWARD_TASK_TENSOR_DATA_H_
#define TOUCHSTONE_REWARD_TASK_TENSOR_DATA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace touchstone {

// A tensor's content, dense and row-major.
struct TensorData {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;

  uint64_t count() const { return bytes.size() / SizeOf(dtype); }
  // Length of the last dim; 1 for a scalar.
  uint64_t row_length() const { return dims.empty() ? 1 : static_cast<uint64_t>(dims.back()); }
};

// An element of a tensor of any floating dtype. What is set is rounded to the dtype.
double FloatAt(const TensorData& tensor, uint64_t index);
void SetFloatAt(TensorData& tensor, uint64_t index, double value);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_TASK_TENSOR_DATA_H_

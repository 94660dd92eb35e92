#include "reward/task/task.h"

namespace touchstone {
namespace {

// Nothing on one machine is larger; products of two such numbers of elements and an element size cannot overflow.
constexpr int64_t kMaxElements = int64_t{1} << 40;

}  // namespace

Result<DimValues> Task::Size(const std::string& name) const {
  if (const auto found = sizes.find(name); found != sizes.end()) return found->second;
  std::string names;
  for (const auto& [known, values] : sizes) names += (names.empty() ? "" : ", ") + known;
  return Error(ErrorCode::kNotFound, "task '" + id + "' has no size '" + name + "'; it has: " + names);
}

Result<std::vector<int64_t>> EvaluateShape(const TensorSpec& tensor, const DimValues& dims) {
  std::vector<int64_t> shape;
  int64_t count = 1;
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const std::string where = tensor.name + ".shape[" + std::to_string(axis) + "]";
    auto length = Evaluate(tensor.shape[axis], dims);
    if (!length.ok()) return length.error().Within(where);
    if (*length < 1)
      return Error(ErrorCode::kInvalidArgument, where + ": " + std::to_string(*length) + ", must be ≥ 1");
    if (__builtin_mul_overflow(count, *length, &count) || count > kMaxElements) {
      return Error(ErrorCode::kInvalidArgument, tensor.name + ": more elements than the limit of 2^40");
    }
    shape.push_back(*length);
  }
  return shape;
}

Result<Distribution> Resolve(const Distribution& distribution, const DimValues& dims) {
  Distribution resolved = distribution;
  if (!distribution.low_expression.empty()) {
    TOUCHSTONE_ASSIGN(const int64_t low, Evaluate(distribution.low_expression, dims));
    resolved.low = static_cast<double>(low);
  }
  if (!distribution.high_expression.empty()) {
    TOUCHSTONE_ASSIGN(const int64_t high, Evaluate(distribution.high_expression, dims));
    resolved.high = static_cast<double>(high);
  }
  resolved.low_expression.clear();
  resolved.high_expression.clear();
  if (resolved.family == Distribution::Family::kInteger && !(resolved.low < resolved.high)) {
    return Error(ErrorCode::kInvalidArgument, "empty range of integers [" + std::to_string(resolved.low) + ", " +
                                                  std::to_string(resolved.high) + ")");
  }
  return resolved;
}

}  // namespace touchstone

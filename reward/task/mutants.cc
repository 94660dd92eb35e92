#include "reward/task/mutants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/minifloat.h"
#include "base/result.h"

namespace touchstone {
namespace {

// Applies `change` to every element of a tensor of a floating dtype.
template <typename Change>
void ForEachFloat(TensorData& tensor, const Change& change) {
  for (uint64_t i = 0; i < tensor.count(); ++i) SetFloatAt(tensor, i, change(FloatAt(tensor, i)));
}

std::byte* ElementAt(TensorData& tensor, uint64_t index) { return tensor.bytes.data() + index * SizeOf(tensor.dtype); }

TensorData Constant(const TensorData& right) {
  TensorData mutant = right;
  if (IsFloating(right.dtype)) {
    double sum = 0;
    uint64_t finite = 0;
    ForEachFloat(mutant, [&](double value) {
      if (std::isfinite(value)) sum += value, ++finite;
      return value;
    });
    ForEachFloat(mutant, [&](double) { return finite > 0 ? sum / static_cast<double>(finite) : 0.0; });
    return mutant;
  }
  const size_t size = SizeOf(right.dtype);
  for (uint64_t i = 0; i < mutant.count(); ++i) std::memcpy(ElementAt(mutant, i), right.bytes.data(), size);
  return mutant;
}

// Bytes of a row; of an element where there is at most one row.
size_t UnitBytes(const TensorData& tensor) {
  const size_t row = tensor.row_length() * SizeOf(tensor.dtype);
  return row < tensor.bytes.size() ? row : SizeOf(tensor.dtype);
}

TensorData RotatedRows(const TensorData& right) {
  TensorData mutant = right;
  const auto unit = static_cast<std::ptrdiff_t>(UnitBytes(right));
  std::rotate(mutant.bytes.begin(), mutant.bytes.begin() + unit, mutant.bytes.end());
  return mutant;
}

// Exchanges the first unit with the last.
TensorData SwappedRows(const TensorData& right) {
  TensorData mutant = right;
  const auto unit = static_cast<std::ptrdiff_t>(UnitBytes(right));
  if (mutant.bytes.size() < 2 * static_cast<size_t>(unit)) return mutant;
  std::swap_ranges(mutant.bytes.begin(), mutant.bytes.begin() + unit, mutant.bytes.end() - unit);
  return mutant;
}

TensorData OneElement(const TensorData& right) {
  TensorData mutant = right;
  const size_t size = SizeOf(right.dtype);
  const uint64_t at = right.count() / 2;
  std::byte* element = ElementAt(mutant, at);
  if (at > 0 && std::memcmp(element, element - size, size) != 0) {
    std::memcpy(element, element - size, size);
  } else if (IsFloating(right.dtype)) {
    TensorData more = right;
    ForEachFloat(more, [](double value) { return value + 1; });
    std::memcpy(element, ElementAt(more, at), size);
  } else {
    *element ^= std::byte{1};
  }
  return mutant;
}

// The last `share` of the elements, at least one, as in `previous`.
TensorData StaleTail(const TensorData& right, const TensorData& previous, uint64_t elements) {
  TensorData mutant = right;
  const size_t bytes = std::max<uint64_t>(elements, 1) * SizeOf(right.dtype);
  if (bytes > right.bytes.size() || previous.bytes.size() != right.bytes.size()) return mutant;
  std::memcpy(mutant.bytes.data() + mutant.bytes.size() - bytes, previous.bytes.data() + previous.bytes.size() - bytes,
              bytes);
  return mutant;
}

TensorData OneNan(const TensorData& right) {
  TensorData mutant = right;
  uint64_t index = 0;
  ForEachFloat(mutant, [&](double value) {
    return index++ == right.count() / 3 ? std::numeric_limits<double>::quiet_NaN() : value;
  });
  return mutant;
}

}  // namespace

std::optional<DType> LowerPrecision(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kFloat32:
      return DType::kFloat16;
    case DType::kFloat16:
      return DType::kBFloat16;
    case DType::kBFloat16:
      return DType::kFloat8E4M3;
    default:
      return std::nullopt;
  }
}

TensorData RoundedToLowerPrecision(const TensorData& tensor) {
  const auto lower = LowerPrecision(tensor.dtype);
  TOUCHSTONE_CHECK(lower.has_value(), "a dtype below which there is another");
  TensorData rounded = tensor;
  ForEachFloat(rounded, [&](double value) {
    return DecodeMinifloat(*lower, EncodeMinifloat(*lower, static_cast<float>(value)));
  });
  return rounded;
}

std::vector<Mutant> MakeMutants(const TensorData& right, const TensorData& previous,
                                const std::vector<std::pair<std::string, TensorData>>& inputs) {
  std::vector<Mutant> mutants;
  const auto add = [&](std::string name, TensorData output) {
    mutants.push_back({std::move(name), std::move(output)});
  };
  TensorData zeros = right;
  std::fill(zeros.bytes.begin(), zeros.bytes.end(), std::byte{0});
  add("zeros", std::move(zeros));
  add("constant", Constant(right));
  for (const auto& [name, input] : inputs) {
    if (input.dtype != right.dtype || input.bytes.size() != right.bytes.size()) continue;
    TensorData copy = right;
    copy.bytes = input.bytes;
    add("input " + name, std::move(copy));
  }
  if (previous.bytes.size() == right.bytes.size()) add("previous", previous);
  add("rotated_rows", RotatedRows(right));
  add("swapped_rows", SwappedRows(right));
  add("one_element", OneElement(right));
  add("last_element", StaleTail(right, previous, 1));
  add("tail", StaleTail(right, previous, right.count() / 16));
  if (IsFloating(right.dtype)) {
    add("nan", OneNan(right));
  }
  if (const auto lower = LowerPrecision(right.dtype)) {
    add(std::string(ToString(*lower)), RoundedToLowerPrecision(right));
  }
  return mutants;
}

}  // namespace touchstone

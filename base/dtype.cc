#include "base/dtype.h"

#include "base/result.h"

namespace touchstone {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::string_view cpp_name;
  size_t size;
  bool floating;
};

constexpr Row kRows[] = {
    {DType::kFloat32, "float32", "float", 4, true},
    {DType::kFloat64, "float64", "double", 8, true},
    {DType::kFloat16, "float16", "float16", 2, true},
    {DType::kBFloat16, "bfloat16", "bfloat16", 2, true},
    {DType::kFloat8E4M3, "float8_e4m3fn", "uint8_t", 1, true},
    {DType::kFloat8E5M2, "float8_e5m2", "uint8_t", 1, true},
    {DType::kInt8, "int8", "int8_t", 1, false},
    {DType::kInt16, "int16", "int16_t", 2, false},
    {DType::kInt32, "int32", "int32_t", 4, false},
    {DType::kInt64, "int64", "int64_t", 8, false},
    {DType::kUInt8, "uint8", "uint8_t", 1, false},
    {DType::kBool, "bool", "bool", 1, false},
};

const Row& RowOf(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return row;
  }
  CheckFailed(__FILE__, __LINE__, "known dtype", "a DType outside its enum");
}

}  // namespace

std::string_view ToString(DType dtype) { return RowOf(dtype).name; }
size_t SizeOf(DType dtype) { return RowOf(dtype).size; }
bool IsFloating(DType dtype) { return RowOf(dtype).floating; }
std::string_view CppName(DType dtype) { return RowOf(dtype).cpp_name; }

std::optional<DType> DTypeFromString(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace touchstone

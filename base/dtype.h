#ifndef TOUCHSTONE_BASE_DTYPE_H_
#define TOUCHSTONE_BASE_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace touchstone {

// Element types of tensors. The values travel on pages and in records: do not change them.
enum class DType : uint32_t {
  kFloat32 = 1,
  kFloat64 = 2,
  kFloat16 = 3,
  kBFloat16 = 4,
  kFloat8E4M3 = 5,
  kFloat8E5M2 = 6,
  kInt8 = 7,
  kInt16 = 8,
  kInt32 = 9,
  kInt64 = 10,
  kUInt8 = 11,
  kBool = 12,
};

// PyTorch's names: "float32", "int64", "bool", …
std::string_view ToString(DType dtype);
std::optional<DType> DTypeFromString(std::string_view name);
size_t SizeOf(DType dtype);
bool IsFloating(DType dtype);
// The type a C++ kernel sees: "float", "int64_t", "bool"; "float16" and "bfloat16" are types of the rendered header,
// the 8-bit floats are their bits as "uint8_t".
std::string_view CppName(DType dtype);

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_DTYPE_H_

#include <algorithm>

#include "reward/task/task.h"

namespace touchstone {
namespace {

std::string Arguments(const Task& task) {
  std::string text;
  const auto add = [&text](const std::string& argument) { text += (text.empty() ? "" : ", ") + argument; };
  for (const TensorSpec& input : task.inputs) {
    add((input.in_place ? "" : "const ") + std::string(CppName(input.dtype)) + "* " + input.name);
  }
  for (const OutputSpec& output : task.outputs) {
    if (!output.tensor.in_place) add(std::string(CppName(output.tensor.dtype)) + "* " + output.tensor.name);
  }
  for (const std::string& dim : task.dims) add("int64_t " + dim);
  return text;
}

std::string ShapeText(const TensorSpec& tensor) {
  std::string text;
  for (const std::string& length : tensor.shape) text += (text.empty() ? "" : ", ") + length;
  return std::string(ToString(tensor.dtype)) + "[" + text + "]";
}

bool Uses(const Task& task, DType dtype) {
  const auto is = [dtype](const TensorSpec& tensor) { return tensor.dtype == dtype; };
  return std::any_of(task.inputs.begin(), task.inputs.end(), is) ||
         std::any_of(task.outputs.begin(), task.outputs.end(),
                     [&](const OutputSpec& output) { return is(output.tensor); });
}

// Both convert to float exactly and from float rounded to nearest even, so that arithmetic on them is arithmetic on
// float. That of the compiler's own _Float16 is not: the product of two is rounded before it goes into a float's sum.
// And g++ 12 has no bfloat16 for x86.
constexpr char kFloat16[] = R"(
struct float16 {
  uint16_t bits;
  float16() = default;
  float16(float value) : bits(__builtin_bit_cast(uint16_t, static_cast<_Float16>(value))) {}
  operator float() const { return __builtin_bit_cast(_Float16, bits); }
};
)";
constexpr char kBFloat16[] = R"(
struct bfloat16 {
  uint16_t bits;  // the upper half of a float's
  bfloat16() = default;
  bfloat16(float value) {
    const uint32_t whole = __builtin_bit_cast(uint32_t, value);
    bits = static_cast<uint16_t>(value != value ? 0x7fc0 : (whole + 0x7fff + (whole >> 16 & 1)) >> 16);
  }
  operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }
};
)";

}  // namespace

std::string RenderCppSignature(const Task& task) { return "extern \"C\" void run(" + Arguments(task) + ");"; }

std::string RenderCppHeader(const Task& task) {
  std::string text = "// Task " + task.id + ". Arrays are dense and row-major; 64-byte aligned; they do not overlap.\n";
  for (const TensorSpec& input : task.inputs) {
    text += "//   " + input.name + ": " + ShapeText(input) + (input.in_place ? ", read and overwritten\n" : ", read\n");
  }
  for (const OutputSpec& output : task.outputs) {
    if (!output.tensor.in_place) text += "//   " + output.tensor.name + ": " + ShapeText(output.tensor) + ", written\n";
  }
  text += "#ifndef TOUCHSTONE_TASK_H_\n#define TOUCHSTONE_TASK_H_\n\n#include <cstddef>\n#include <cstdint>\n";
  if (Uses(task, DType::kFloat16)) text += kFloat16;
  if (Uses(task, DType::kBFloat16)) text += kBFloat16;
  text += "\n";
  // Visible although everything else in a candidate is hidden: a runner looks it up by name.
  text += "extern \"C\" __attribute__((visibility(\"default\"))) void run(" + Arguments(task) + ");\n";
  text += "\n#endif  // TOUCHSTONE_TASK_H_\n";
  return text;
}

}  // namespace touchstone

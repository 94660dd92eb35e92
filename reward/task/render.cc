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
  text += "#ifndef TOUCHSTONE_TASK_H_\n#define TOUCHSTONE_TASK_H_\n\n#include <cstddef>\n#include <cstdint>\n\n";
  // Visible although everything else in a candidate is hidden: a runner looks it up by name.
  text += "extern \"C\" __attribute__((visibility(\"default\"))) void run(" + Arguments(task) + ");\n";
  text += "\n#endif  // TOUCHSTONE_TASK_H_\n";
  return text;
}

}  // namespace touchstone

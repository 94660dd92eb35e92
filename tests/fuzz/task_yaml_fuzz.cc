// A task file may come from anybody: it is either a task that can be used, or an error that says where.
#include <cstdint>

#include "reward/task/catalog.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto task = ParseTask(std::string(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  if (!task.ok()) {
    FUZZ_EXPECT(!task.error().message().empty());
    return 0;
  }
  FUZZ_EXPECT(!task->id.empty() && !task->outputs.empty());
  (void)RenderCppHeader(*task);
  (void)RenderCppSignature(*task);
  for (const auto& [name, dims] : task->sizes) {
    FUZZ_EXPECT(task->Size(name).ok());
    for (const TensorSpec& input : task->inputs) (void)EvaluateShape(input, dims);
    for (const OutputSpec& output : task->outputs) (void)EvaluateShape(output.tensor, dims);
    (void)Evaluate(task->floor_bytes, dims);
    (void)Evaluate(task->floor_flops, dims);
  }
  return 0;
}

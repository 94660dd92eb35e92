#include "reward/task/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace touchstone {
namespace {

using ::testing::HasSubstr;

// Total bytes of one set of buffers.
int64_t SetBytes(const Task& task, const DimValues& dims) {
  int64_t bytes = 0;
  const auto add = [&](const TensorSpec& tensor) {
    int64_t count = 1;
    const std::vector<int64_t> shape = EvaluateShape(tensor, dims).value();
    for (const int64_t length : shape) count *= length;
    bytes += count * static_cast<int64_t>(SizeOf(tensor.dtype));
  };
  for (const TensorSpec& input : task.inputs) add(input);
  for (const OutputSpec& output : task.outputs) {
    if (!output.tensor.in_place) add(output.tensor);
  }
  return bytes;
}

TEST(Catalog, ShipsItsTasks) {
  const auto tasks = LoadTasks(DefaultTaskFolder());
  ASSERT_TRUE(tasks.ok()) << tasks.error().ToString();
  std::vector<std::string> ids;
  for (const Task& task : *tasks) ids.push_back(task.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"adamw_step",
                                           "add",
                                           "argmax",
                                           "attention",
                                           "batched_matmul",
                                           "bias_gelu_residual",
                                           "causal_attention",
                                           "conv1d",
                                           "conv2d",
                                           "cross_entropy",
                                           "cumsum",
                                           "depthwise_conv2d",
                                           "dequantize_int8",
                                           "embedding_bag",
                                           "gather",
                                           "gelu",
                                           "histogram",
                                           "layer_norm",
                                           "log_sum_exp",
                                           "masked_fill",
                                           "matmul",
                                           "matmul_bfloat16",
                                           "matmul_float16",
                                           "max_pool2d",
                                           "moe_gating",
                                           "quantize_int8",
                                           "rms_norm",
                                           "rope",
                                           "row_sum",
                                           "scatter_add",
                                           "softmax",
                                           "swiglu",
                                           "top_k",
                                           "transpose",
                                           "variance"}));
}

TEST(Catalog, EveryShippedTaskIsComplete) {
  const auto tasks = LoadTasks(DefaultTaskFolder());
  ASSERT_TRUE(tasks.ok()) << tasks.error().ToString();
  for (const Task& task : *tasks) {
    SCOPED_TRACE(task.id);
    EXPECT_EQ(std::filesystem::path(task.source_file).stem(), task.id);
    EXPECT_TRUE(task.Size("gpu").ok());
    EXPECT_FALSE(task.hidden_shapes.empty());
    EXPECT_FALSE(task.floor_bytes.empty());
    const auto cpu = task.Size("cpu");
    ASSERT_TRUE(cpu.ok());
    const int64_t bytes = SetBytes(task, *cpu);
    EXPECT_LE(bytes, 8 << 20);
    // A floor above what a call could ever touch twice would refuse honest work.
    EXPECT_LE(Evaluate(task.floor_bytes, *cpu).value(), 2 * bytes);
    for (const OutputSpec& output : task.outputs) {
      if (!IsFloating(output.tensor.dtype)) continue;
      // How far a coarser type is off, as a share of a value: no tolerance may let that pass everywhere. The next type
      // of a float16 is so near that only the root mean square tells them apart.
      const DType dtype = output.tensor.dtype;
      if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
        EXPECT_GT(output.tolerance.rms, 0);
        EXPECT_LT(output.tolerance.rms, (dtype == DType::kFloat16 ? 0x1p-9 : 0x1p-4) / 1.5);
      } else {
        EXPECT_LT(output.tolerance.rtol, 0x1p-11 / 4);
      }
    }
  }
}

TEST(Catalog, FindsByIdAndByPath) {
  EXPECT_EQ(FindTask("softmax").value().id, "softmax");
  EXPECT_EQ(FindTask(DefaultTaskFolder() + "/add.yaml").value().id, "add");
  const auto missing = FindTask("sofmax");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message(), HasSubstr("softmax"));
  EXPECT_EQ(FindTask("/nowhere/add.yaml").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(LoadTasks("/nowhere").error().code(), ErrorCode::kNotFound);
}

TEST(Catalog, OneIdTwiceIsAnError) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "two_tasks";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const char* name : {"a.yaml", "b.yaml"}) {
    std::filesystem::copy_file(DefaultTaskFolder() + "/add.yaml", folder / name);
  }
  const auto tasks = LoadTasks(folder.string());
  ASSERT_FALSE(tasks.ok());
  EXPECT_THAT(tasks.error().message(), HasSubstr("'add' is the id of"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace touchstone

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reward/task/catalog.h"

namespace touchstone {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Every line has its number in a comment of the tests below: keep the layout.
constexpr char kTask[] = R"(id: scale
title: Scale
description: y = 2 x
dims: [rows, cols]
sizes:
  cpu: {rows: 8, cols: 16}
  gpu: {rows: 1024, cols: 4096}
inputs:
  - name: x
    dtype: float32
    shape: [rows, cols]
    distribution: {family: normal, mean: 0, stddev: 2}
  - name: state
    dtype: float32
    shape: [rows]
    distribution: {family: uniform, low: -1, high: 1, zero_share: 0.25}
    in_place: true
  - name: index
    dtype: int64
    shape: [rows]
    distribution: {family: integer, low: 0, high: cols + 1}
outputs:
  - name: state
    tolerance: {rtol: 1.0e-6}
  - name: y
    dtype: float32
    shape: [rows, cols - 1]
    tolerance: {rtol: 1.0e-6, atol: 1.0e-7, rms: 1.0e-6}
reference: |
  def reference(x, state, index, rows: int, cols: int):
      return x[:, 1:] * 2.0
policy: {threads: 2, openmp: true, deterministic: true}
floor: {bytes: 8 * rows * cols, flops: rows * cols}
hidden:
  shapes:
    cols: {low: 3, high: 999}
  distributions:
    - x: {family: constant, value: 3}
)";

// The task with the first `from` replaced by `to`.
std::string With(const std::string& from, const std::string& to) {
  std::string text = kTask;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string Complaint(const std::string& yaml) {
  const auto task = ParseTask(yaml, "t.yaml");
  EXPECT_FALSE(task.ok());
  if (task.ok()) return "";
  EXPECT_EQ(task.error().code(), ErrorCode::kInvalidArgument);
  return task.error().message();
}

TEST(TaskYaml, FillsEveryField) {
  const auto result = ParseTask(kTask, "t.yaml");
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  const Task& task = *result;
  EXPECT_EQ(task.id, "scale");
  EXPECT_EQ(task.title, "Scale");
  EXPECT_EQ(task.description, "y = 2 x");
  EXPECT_EQ(task.source_file, "t.yaml");
  EXPECT_EQ(task.content_hash.size(), 64u);
  EXPECT_EQ(task.dims, (std::vector<std::string>{"rows", "cols"}));
  EXPECT_EQ(task.sizes.at("gpu"), (DimValues{{"rows", 1024}, {"cols", 4096}}));
  ASSERT_EQ(task.inputs.size(), 3u);
  EXPECT_EQ(task.inputs[0].distribution.family, Distribution::Family::kNormal);
  EXPECT_EQ(task.inputs[0].distribution.high, 2);
  EXPECT_TRUE(task.inputs[1].in_place);
  EXPECT_EQ(task.inputs[1].distribution.zero_share, 0.25);
  EXPECT_EQ(task.inputs[2].dtype, DType::kInt64);
  EXPECT_EQ(task.inputs[2].distribution.high_expression, "cols + 1");
  ASSERT_EQ(task.outputs.size(), 2u);
  EXPECT_TRUE(task.outputs[0].tensor.in_place);
  EXPECT_EQ(task.outputs[0].tensor.shape, std::vector<std::string>{"rows"});
  EXPECT_EQ(task.outputs[1].tolerance.atol, 1e-7);
  EXPECT_EQ(task.policy.threads, 2);
  EXPECT_TRUE(task.policy.openmp);
  EXPECT_TRUE(task.policy.deterministic);
  EXPECT_EQ(task.floor_bytes, "8 * rows * cols");
  ASSERT_EQ(task.hidden_shapes.size(), 1u);
  EXPECT_EQ(task.hidden_shapes[0].high, 999);
  ASSERT_EQ(task.hidden_distributions.size(), 1u);
  EXPECT_EQ(task.hidden_distributions[0].at("x").low, 3);
}

TEST(TaskYaml, ErrorsNameFileLineKeyAndLimit) {
  EXPECT_EQ(Complaint(With("    dtype: float32", "    dtype: float33")),
            "t.yaml:10: inputs[0].dtype: no dtype 'float33'; float32, float64, int32, int64, uint8, bool, …");
  EXPECT_EQ(Complaint(With("threads: 2", "threads: 5000")), "t.yaml:32: policy.threads: 5000 is outside [1, 1024]");
  EXPECT_EQ(Complaint(With("rows: 8,", "rows: 0,")), "t.yaml:6: sizes.cpu.rows: 0 is outside [1, 1099511627776]");
  EXPECT_EQ(Complaint(With("rows: 8,", "rows: 8.5,")), "t.yaml:6: sizes.cpu.rows: '8.5' is not an integer");
  EXPECT_EQ(Complaint(With("stddev: 2", "stddev: .nan")),
            "t.yaml:12: inputs[0].distribution.stddev: '.nan' is not a finite number");
}

TEST(TaskYaml, RefusesUnknownMissingAndRepeatedKeys) {
  EXPECT_EQ(Complaint(With("policy: {threads", "policy: {treads")),
            "t.yaml:32: policy.treads: unknown key; known here: threads, openmp, deterministic");
  EXPECT_THAT(Complaint(With("title: Scale\n", "")), HasSubstr("t.yaml:1: key 'title' is missing"));
  EXPECT_EQ(Complaint(With("title: Scale\n", "title: Scale\ntitle: Again\n")), "t.yaml:3: title: stands twice");
  EXPECT_THAT(Complaint(With("mean: 0, ", "")), HasSubstr("key 'mean' is missing"));
  EXPECT_THAT(Complaint(With("mean: 0, ", "low: 0, ")), HasSubstr("inputs[0].distribution.low: unknown key"));
  EXPECT_THAT(Complaint("a: [1\n"), StartsWith("t.yaml:"));
  EXPECT_THAT(Complaint(""), HasSubstr("a map of keys expected"));
  EXPECT_THAT(Complaint("- 1"), HasSubstr("a map of keys expected"));
}

TEST(TaskYaml, ChecksNames) {
  EXPECT_THAT(Complaint(With("- name: x", "- name: float")), HasSubstr("means something in C++ or Python"));
  EXPECT_THAT(Complaint(With("- name: x", "- name: bfloat16")), HasSubstr("means something in C++ or Python"));
  EXPECT_THAT(Complaint(With("- name: x", "- name: x;y")), HasSubstr("a name is a lower-case letter"));
  EXPECT_THAT(Complaint(With("- name: x", "- name: rows")), HasSubstr("used twice"));
  EXPECT_THAT(Complaint(With("  - name: y", "  - name: index")), HasSubstr("an input that is not in_place"));
}

TEST(TaskYaml, ChecksShapesAtEverySizeAndCorner) {
  EXPECT_THAT(Complaint(With("[rows, cols - 1]", "[rows, cols - 16]")),
              HasSubstr("t.yaml:25: outputs[1]: y.shape[1]: 0, must be ≥ 1 (size 'cpu')"));
  EXPECT_THAT(Complaint(With("{low: 3, high: 999}", "{low: 1, high: 999}")), HasSubstr("(smallest hidden shape)"));
  EXPECT_THAT(Complaint(With("cols: 4096", "cols: 1099511627776")), HasSubstr("more elements than the limit of 2^40"));
  EXPECT_THAT(Complaint(With("{low: 3, high: 999}", "{low: 3, high: 999, multiple: 2}")), HasSubstr("multiples of 2"));
  EXPECT_THAT(Complaint(With("shape: [rows, cols]", "shape: [1, 1, 1, 1, 1, 1, 1, 1, 1]")),
              HasSubstr("9 axes, the limit is 8"));
  EXPECT_THAT(Complaint(With("bytes: 8 * rows", "bytes: 0 - rows")), HasSubstr("t.yaml:33: floor.bytes"));
}

TEST(TaskYaml, ChecksDistributions) {
  EXPECT_THAT(Complaint(With("high: cols + 1", "high: cols - 16")), HasSubstr("empty range of integers"));
  EXPECT_THAT(Complaint(With("{family: integer, low: 0, high: cols + 1}", "{family: normal, mean: 0, stddev: 1}")),
              HasSubstr("needs a floating dtype"));
  EXPECT_THAT(Complaint(With("low: -1, high: 1,", "low: 1, high: 1,")), HasSubstr("low must be below high"));
  EXPECT_THAT(Complaint(With("zero_share: 0.25", "zero_share: 1.25")), HasSubstr("outside [0, 1]"));
  EXPECT_THAT(Complaint(With("family: normal", "family: cauchy")), HasSubstr("no family 'cauchy'"));
  EXPECT_THAT(Complaint(With("    - x: {", "    - z: {")), HasSubstr("no input 'z'"));
}

TEST(TaskYaml, ChecksOutputsAndReference) {
  EXPECT_THAT(Complaint(With("  - name: state\n    tolerance: {rtol: 1.0e-6}\n", "")),
              HasSubstr("in-place inputs must come first"));
  EXPECT_THAT(Complaint(With("\n    tolerance: {rtol: 1.0e-6, atol: 1.0e-7, rms: 1.0e-6}", "")),
              HasSubstr("key 'tolerance' is missing"));
  EXPECT_THAT(Complaint(With("def reference(x, state,", "def reference(state, x,")),
              HasSubstr("must define `def reference(x, state, index, rows, cols)`"));
}

TEST(TaskYaml, SizeByName) {
  const auto task = ParseTask(kTask, "t.yaml");
  ASSERT_TRUE(task.ok());
  EXPECT_TRUE(task->Size("cpu").ok());
  const auto missing = task->Size("tpu");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message(), "task 'scale' has no size 'tpu'; it has: cpu, gpu");
}

TEST(TaskYaml, RendersSignatureAndHeader) {
  const auto task = ParseTask(kTask, "t.yaml");
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(RenderCppSignature(*task),
            "extern \"C\" void run(const float* x, float* state, const int64_t* index, float* y, int64_t rows, "
            "int64_t cols);");
  const std::string header = RenderCppHeader(*task);
  EXPECT_THAT(header, HasSubstr("extern \"C\" __attribute__((visibility(\"default\"))) void run(const float* x, "));
  EXPECT_THAT(header, HasSubstr("#include <cstdint>"));
  EXPECT_THAT(header, HasSubstr("y: float32[rows, cols - 1], written"));
  EXPECT_THAT(header, HasSubstr("state: float32[rows], read and overwritten"));
}

// Only what a task uses is defined, so that a candidate may have types of these names for itself.
TEST(TaskYaml, RendersTypesOfSixteenBits) {
  const auto task = ParseTask(With("name: x\n    dtype: float32", "name: x\n    dtype: bfloat16"), "t.yaml");
  ASSERT_TRUE(task.ok()) << task.error().ToString();
  EXPECT_THAT(RenderCppSignature(*task), HasSubstr("run(const bfloat16* x, float* state, "));
  EXPECT_THAT(RenderCppHeader(*task), HasSubstr("struct bfloat16 {"));
  EXPECT_THAT(RenderCppHeader(*task), Not(HasSubstr("_Float16")));
  const auto half = ParseTask(With("name: y\n    dtype: float32", "name: y\n    dtype: float16"), "t.yaml");
  ASSERT_TRUE(half.ok()) << half.error().ToString();
  EXPECT_THAT(RenderCppSignature(*half), HasSubstr(", float16* y, "));
  EXPECT_THAT(RenderCppHeader(*half), HasSubstr("struct float16 {"));
  EXPECT_THAT(RenderCppHeader(*ParseTask(kTask, "t.yaml")), Not(HasSubstr("float16")));
}

// Every prefix of a good file is read or refused, never worse.
TEST(TaskYaml, SurvivesTruncation) {
  const std::string whole = kTask;
  int refused = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    refused += ParseTask(whole.substr(0, length), "t.yaml").ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 900);
}

}  // namespace
}  // namespace touchstone

#include "reward/judge/layout.h"

#include <gtest/gtest.h>

namespace touchstone {
namespace {

TensorSpec Spec(const std::string& name, std::vector<std::string> shape, bool in_place = false) {
  TensorSpec spec;
  spec.name = name;
  spec.shape = std::move(shape);
  spec.in_place = in_place;
  return spec;
}

Task TwoOutputs() {
  Task task;
  task.dims = {"n"};
  task.inputs = {Spec("p", {"n"}, true), Spec("g", {"n"})};
  task.outputs = {{Spec("p", {"n"}, true), {}}, {Spec("m", {"n", "3"}), {}}};
  return task;
}

TEST(LayoutTest, InPlaceInputsAreOutputsOnce) {
  auto layout = MakeLayout(TwoOutputs(), {{"n", 5}});
  ASSERT_TRUE(layout.ok()) << layout.error().ToString();
  ASSERT_EQ(layout->tensors.size(), 3u);
  EXPECT_EQ(layout->tensors[0].role, TensorRole::kInOut);
  EXPECT_EQ(layout->tensors[1].role, TensorRole::kInput);
  EXPECT_EQ(layout->tensors[2].role, TensorRole::kOutput);
  EXPECT_EQ(layout->outputs, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(layout->tensors[2].bytes, 60u);
}

// Every byte of a set belongs to exactly one tensor or guard: there is nowhere to write unseen.
TEST(LayoutTest, TensorsAndGuardsCoverTheSetWithoutOverlap) {
  for (const int64_t n : {1, 5, 16, 17, 1000}) {
    auto layout = MakeLayout(TwoOutputs(), {{"n", n}});
    ASSERT_TRUE(layout.ok());
    std::vector<int> owners(layout->stride, 0);
    for (const auto& tensor : layout->tensors) {
      EXPECT_EQ(tensor.offset % 64, 0u);
      for (uint64_t i = 0; i < tensor.bytes; ++i) ++owners[tensor.offset + i];
    }
    for (const Region& guard : layout->guards) {
      for (uint64_t i = 0; i < guard.bytes; ++i) ++owners[guard.offset + i];
    }
    for (uint64_t i = 0; i < layout->stride; ++i) ASSERT_EQ(owners[i], 1) << "byte " << i << " of n = " << n;
  }
}

TEST(LayoutTest, EveryCallHasInputsOfItsOwn) {
  const Task task = TwoOutputs();
  auto layout = MakeLayout(task, {{"n", 5}});
  ASSERT_TRUE(layout.ok());
  const SecretKey key{9};
  auto first = MakeInputs(task, *layout, key, 1, {});
  auto again = MakeInputs(task, *layout, key, 1, {});
  auto second = MakeInputs(task, *layout, key, 2, {});
  ASSERT_TRUE(first.ok() && again.ok() && second.ok());
  EXPECT_EQ((*first)[0].key, (*again)[0].key);
  EXPECT_NE((*first)[0].key, (*first)[1].key);
  EXPECT_NE((*first)[0].key, (*second)[0].key);
}

TEST(LayoutTest, TooManyTensorsAreRefused) {
  Task task = TwoOutputs();
  for (int i = 0; i < 30; ++i) task.inputs.push_back(Spec("x" + std::to_string(i), {"n"}));
  auto layout = MakeLayout(task, {{"n", 5}});
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace touchstone

// A side with the real runner in a real box: hand-shake, freezer, poison, guards, tiles.
#include "reward/judge/side.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "base/memfd.h"
#include "reward/judge/cpu/cpu_device.h"
#include "sandbox/runner/libraries/runtime_binds.h"

namespace touchstone {
namespace {

constexpr size_t kBlockBytes = size_t{16} << 20;

Task AddTask() {
  Task task;
  task.id = "add";
  task.dims = {"n"};
  TensorSpec tensor;
  tensor.shape = {"n"};
  for (const char* name : {"a", "b"}) {
    tensor.name = name;
    task.inputs.push_back(tensor);
  }
  OutputSpec output;
  output.tensor = tensor;
  output.tensor.name = "c";
  output.tolerance.atol = 0;
  task.outputs.push_back(output);
  return task;
}

class SideTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto spawner = Spawner::Launch(TOUCHSTONE_BIN "/touchstone-spawner");
    ASSERT_TRUE(spawner.ok()) << spawner.error().ToString();
    spawner_.emplace(std::move(*spawner));
    SideSpec spec;
    const std::string runner = TOUCHSTONE_BIN "/touchstone-runner-cpp";
    auto binds = RuntimeBinds(runner);
    ASSERT_TRUE(binds.ok()) << binds.error().ToString();
    spec.policy.binds = *binds;
    spec.program.argv = {runner};
    spec.block_bytes = kBlockBytes;
    auto side = Side::Start(*spawner_, device_, spec);
    ASSERT_TRUE(side.ok()) << side.error().ToString();
    side_ = std::move(*side);
    auto layout = MakeLayout(task_, {{"n", 1000}});
    ASSERT_TRUE(layout.ok());
    layout_ = *layout;
    ASSERT_TRUE(side_->SetUp(layout_, 4).ok());
  }

  Turn Load(const std::string& library) {
    std::ifstream file(TOUCHSTONE_FIXTURES "/" + library, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_FALSE(bytes.empty()) << library;
    auto artifact = CreateSealedMemfd("artifact", bytes);
    auto turn = side_->Load(artifact->get(), std::chrono::seconds(10));
    EXPECT_TRUE(turn.ok()) << turn.error().ToString();
    return *turn;
  }

  // The call on set s has number s.
  std::vector<CallSlot> Slots(const std::vector<uint32_t>& sets) {
    std::vector<CallSlot> slots;
    for (const uint32_t set : sets) slots.push_back({set, set, *MakeInputs(task_, layout_, key_, set, {})});
    return slots;
  }

  Turn RunCalls(const std::vector<uint32_t>& sets) {
    EXPECT_TRUE(side_->Prepare(Slots(sets), key_).ok());
    auto turn = side_->Run(Opcode::kRun, sets, std::chrono::seconds(10), choices_, 16);
    EXPECT_TRUE(turn.ok()) << turn.error().ToString();
    return *turn;
  }

  Task task_ = AddTask();
  CpuDevice device_;
  SecretKey key_{1, 2, 3};
  ChoiceStream choices_{StreamKey{}};
  std::optional<Spawner> spawner_;
  std::unique_ptr<Side> side_;
  SetLayout layout_;
};

TEST_F(SideTest, RunsCallsOnTheSetsItIsTold) {
  ASSERT_TRUE(Load("libside_add.so").Completed());
  const std::vector<uint32_t> sets{2, 0, 3};
  const Turn turn = RunCalls(sets);
  ASSERT_TRUE(turn.Completed()) << turn.answer.message;
  EXPECT_TRUE(turn.tiles_final);
  EXPECT_GT(turn.elapsed_us, 0);
  const std::vector<CallSlot> slots = Slots(sets);
  EXPECT_EQ(*side_->CountChangedInputs(slots), std::vector<uint64_t>(3, 0));
  EXPECT_EQ(*side_->CountDamagedGuards(slots, key_), std::vector<uint64_t>(3, 0));
  for (size_t i = 0; i < sets.size(); ++i) {
    std::vector<float> a(1000), b(1000), sum(1000);
    Generate(slots[i].inputs[0], 0, 1000, a.data());
    Generate(slots[i].inputs[1], 0, 1000, b.data());
    for (int k = 0; k < 1000; ++k) sum[k] = a[k] + b[k];
    auto expected = device_.AllocatePrivate(4000);
    ASSERT_TRUE(expected.ok());
    // Compared through the device, as the judge does it.
    auto place = side_->Output(turn, sets, i, 0, false);
    ASSERT_TRUE(place.ok());
    std::vector<std::byte> bytes(4000);
    const Region all{place->offset, 4000};
    ASSERT_TRUE(device_.ReadTiles(side_->block(), std::span(&all, 1), bytes).ok());
    EXPECT_EQ(std::memcmp(bytes.data(), sum.data(), 4000), 0);
    EXPECT_LT(*side_->CountUnwritten(slots[i], 0, key_), 100u);
  }
}

TEST_F(SideTest, SeesWhatACallDamagesAndLeavesOut) {
  ASSERT_TRUE(Load("libside_damage.so").Completed());
  const std::vector<uint32_t> sets{1, 3};
  ASSERT_TRUE(RunCalls(sets).Completed());
  const std::vector<CallSlot> slots = Slots(sets);
  EXPECT_EQ(*side_->CountChangedInputs(slots), std::vector<uint64_t>(2, 1));
  for (const uint64_t damaged : *side_->CountDamagedGuards(slots, key_)) EXPECT_GE(damaged, 3u);
  for (const CallSlot& slot : slots) EXPECT_GE(*side_->CountUnwritten(slot, 0, key_), 3900u);
}

TEST_F(SideTest, NoticesDeathAtOnce) {
  ASSERT_TRUE(Load("libside_crash.so").Completed());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(RunCalls({0}).waited, Waited::kDied);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_FALSE(side_->alive());
}

TEST_F(SideTest, ALibraryWithoutRunIsALoadError) {
  const Turn turn = Load("libside_empty.so");
  EXPECT_EQ(turn.waited, Waited::kDone);
  EXPECT_EQ(turn.answer.status, RunnerStatus::kLoadError);
  EXPECT_EQ(turn.answer.message, "the library does not export `run`");
}

// A thread that writes into the output for ever: it runs while it is this side's turn, and not when it is not.
TEST_F(SideTest, AFrozenSideDoesNothing) {
  ASSERT_TRUE(side_->freezes());
  ASSERT_TRUE(Load("libside_thread.so").Completed());
  const std::vector<uint32_t> sets{0};
  ASSERT_TRUE(RunCalls(sets).Completed());
  auto place = side_->Output({}, sets, 0, 0, false);
  const Region word{place->offset, 8};
  std::array<std::byte, 8> before{};
  std::array<std::byte, 8> after{};
  ASSERT_TRUE(device_.ReadTiles(side_->block(), std::span(&word, 1), before).ok());
  const auto cpu = side_->CpuTime();
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < until) {
  }
  ASSERT_TRUE(device_.ReadTiles(side_->block(), std::span(&word, 1), after).ok());
  EXPECT_EQ(before, after);
  ASSERT_TRUE(cpu.has_value());
  // Fifty milliseconds would show; the kernel books the way into the freezer a little late.
  EXPECT_LT(*side_->CpuTime() - *cpu, std::chrono::milliseconds(2));
  // The control: thawed, it does go on.
  ASSERT_TRUE(side_->box().Thaw().ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (after == before && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(device_.ReadTiles(side_->block(), std::span(&word, 1), after).ok());
  }
  EXPECT_NE(before, after);
}

}  // namespace
}  // namespace touchstone

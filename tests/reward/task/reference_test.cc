// Every shipped reference, run by LibTorch as the judge will have it run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "reward/task/admission_data.h"
#include "reward/task/catalog.h"
#include "reward/verdict/compare.h"
#include "tests/reward/task/torch_port.h"

namespace touchstone {

namespace {

using ::testing::HasSubstr;

constexpr SecretKey kKey = {1, 2, 3};

std::vector<Task> ShippedTasks() {
  auto tasks = LoadTasks(DefaultTaskFolder());
  return tasks.ok() ? std::move(tasks).value() : std::vector<Task>();
}

// The dims of the size `cpu`, or the largest or smallest hidden ones.
DimValues Dims(const Task& task, const std::string& which) {
  DimValues dims = task.Size("cpu").value();
  if (which == "cpu") return dims;
  for (auto& [dim, value] : dims) {
    for (const HiddenDim& hidden : task.hidden_shapes) {
      if (hidden.dim == dim) value = which == "largest" ? hidden.high : hidden.low;
    }
  }
  return dims;
}

// Runs both precisions and expects the difference to use less than a quarter of the tolerance.
void ExpectMargin(const Task& task, const DimValues& dims, const std::map<std::string, Distribution>& replacements) {
  TorchPort port(ReferenceDriver::BlockBytes(task, dims).value());
  auto driver = ReferenceDriver::Create(task, dims, port);
  ASSERT_TRUE(driver.ok()) << driver.error().ToString();
  for (uint64_t call = 0; call < 2; ++call) {
    const auto inputs = driver->MakeInputs(kKey, call, replacements);
    ASSERT_TRUE(inputs.ok()) << inputs.error().ToString();
    driver->Store(0, *inputs);
    const auto oracle = driver->Oracle(0);
    ASSERT_TRUE(oracle.ok()) << oracle.error().ToString();
    for (size_t i = 0; i < inputs->size(); ++i) EXPECT_EQ(driver->Read(0, i).bytes, (*inputs)[i].bytes);
    const auto outputs = driver->Run(0);
    ASSERT_TRUE(outputs.ok()) << outputs.error().ToString();
    for (size_t o = 0; o < outputs->size(); ++o) {
      const OutputSpec& spec = task.outputs[o];
      Tolerance quarter = spec.tolerance;
      quarter.rtol /= 4;
      quarter.atol /= 4;
      quarter.rms /= 4;
      const TensorData& output = (*outputs)[o];
      const CompareReport report = Compare(output.dtype, output.bytes.data(), (*oracle)[o].dtype,
                                           (*oracle)[o].bytes.data(), output.count(), quarter);
      EXPECT_TRUE(report.passed()) << spec.tensor.name << ": " << report.mismatches << " of " << report.count
                                   << " elements, first " << report.first_mismatch << ", max abs " << report.max_abs
                                   << ", max rel " << report.max_rel << ", rms " << report.rms_error << " of "
                                   << report.rms_expected;
    }
    for (size_t i = 0; i < inputs->size(); ++i) {
      if (task.inputs[i].in_place) continue;
      EXPECT_EQ(driver->Read(0, i).bytes, (*inputs)[i].bytes) << "changed its input";
    }
  }
}

// One test goes over all tasks, because each test is a process of its own that starts LibTorch.
TEST(EveryReference, UsesLessThanAQuarterOfTheTolerance) {
  const std::vector<Task> tasks = ShippedTasks();
  ASSERT_GE(tasks.size(), 35u);
  for (const Task& task : tasks) {
    for (const char* which : {"cpu", "largest", "smallest"}) {
      SCOPED_TRACE(task.id + ", " + which);
      ExpectMargin(task, Dims(task, which), {});
    }
  }
}

TEST(EveryReference, UsesLessThanAQuarterOfTheToleranceOnHiddenDistributions) {
  for (const Task& task : ShippedTasks()) {
    for (const auto& replacements : task.hidden_distributions) {
      SCOPED_TRACE(task.id + ", " + replacements.begin()->first);
      ExpectMargin(task, Dims(task, "largest"), replacements);
    }
  }
}

// Several calls in one command: outputs of all calls are alive together and lie in the arena.
void ExpectOutputsOfAllCalls(const Task& task) {
  const DimValues dims = Dims(task, "smallest");
  TorchPort port(ReferenceDriver::BlockBytes(task, dims).value() * 4);
  auto driver = ReferenceDriver::Create(task, dims, port);
  ASSERT_TRUE(driver.ok()) << driver.error().ToString();
  CommandPage& page = port.command();
  page.arena_bytes = port.block_bytes() - page.arena_offset;
  for (uint64_t set = 0; set < 2; ++set) driver->Store(set, driver->MakeInputs(kKey, set).value());
  page.calls = 2;
  page.order[0] = 1;
  page.order[1] = 0;
  const auto places = port.Execute(Opcode::kRun);
  ASSERT_TRUE(places.ok()) << places.error().ToString();
  size_t returned = 0;
  for (const OutputSpec& output : task.outputs) returned += output.tensor.in_place ? 0 : 1;
  ASSERT_EQ(places->size(), 2 * returned);
  for (const OutputPlace& place : *places) {
    EXPECT_GE(place.offset, page.arena_offset);
    EXPECT_LT(place.offset, page.arena_offset + page.arena_bytes);
    EXPECT_EQ(place.offset % 64, 0u);
  }
  const auto content = [&](const OutputPlace& place) {
    size_t bytes = SizeOf(static_cast<DType>(place.dtype));
    for (uint32_t axis = 0; axis < place.rank; ++axis) bytes *= static_cast<size_t>(place.dims[axis]);
    return std::string(reinterpret_cast<const char*>(port.block() + place.offset), bytes);
  };
  std::vector<std::string> together;
  for (const OutputPlace& place : *places) together.push_back(content(place));
  for (uint64_t set = 0; set < 2; ++set) driver->Store(set, driver->MakeInputs(kKey, set).value());
  page.calls = 1;
  for (size_t call = 0; call < 2; ++call) {
    page.order[0] = call == 0 ? 1 : 0;
    const auto alone = port.Execute(Opcode::kRun);
    ASSERT_TRUE(alone.ok());
    for (size_t o = 0; o < returned; ++o) EXPECT_EQ(content((*alone)[o]), together[call * returned + o]);
  }
}

TEST(EveryReference, KeepsTheOutputsOfAllCalls) {
  for (const Task& task : ShippedTasks()) {
    SCOPED_TRACE(task.id);
    ExpectOutputsOfAllCalls(task);
  }
}

TEST(EveryReference, BelongsToATaskThatIsAdmitted) {
  for (const Task& task : ShippedTasks()) {
    SCOPED_TRACE(task.id);
    const DimValues dims = Dims(task, "cpu");
    TorchPort port(ReferenceDriver::BlockBytes(task, dims).value());
    const auto data = CollectAdmissionData(task, dims, port, kKey);
    ASSERT_TRUE(data.ok()) << data.error().ToString();
    const AdmissionReport report = Admit(task, *data);
    EXPECT_THAT(report.findings, ::testing::IsEmpty());
    EXPECT_GE(report.mutants.size(), 8u);
    EXPECT_GT(report.floor_bytes, 0);
  }
}

// The example that people start from.
TEST(WritingTasks, ExampleOfTheDocumentIsAdmitted) {
  std::ifstream file(TOUCHSTONE_TASK_DOCUMENT);
  const std::string document((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string fence = "```yaml\n";
  const size_t begin = document.find(fence);
  ASSERT_NE(begin, std::string::npos);
  const size_t end = document.find("```", begin + fence.size());
  const auto task = ParseTask(document.substr(begin + fence.size(), end - begin - fence.size()), "writing-tasks.md");
  ASSERT_TRUE(task.ok()) << task.error().ToString();
  const DimValues dims = task->Size("cpu").value();
  TorchPort port(ReferenceDriver::BlockBytes(*task, dims).value());
  const auto data = CollectAdmissionData(*task, dims, port, kKey);
  ASSERT_TRUE(data.ok()) << data.error().ToString();
  EXPECT_THAT(Admit(*task, *data).findings, ::testing::IsEmpty());
}

// A small task around a reference of the test's choice: y[n] from x[n].
Task TaskWith(const std::string& reference) {
  Task task;
  task.id = "test";
  task.dims = {"n"};
  TensorSpec x;
  x.name = "x";
  x.shape = {"n"};
  task.inputs = {x};
  OutputSpec y;
  y.tensor.name = "y";
  y.tensor.shape = {"n"};
  task.outputs = {y};
  task.reference = reference;
  return task;
}

std::string Complaint(const std::string& reference) {
  const Task task = TaskWith(reference);
  const DimValues dims = {{"n", 100}};
  TorchPort port(ReferenceDriver::BlockBytes(task, dims).value());
  auto driver = ReferenceDriver::Create(task, dims, port);
  if (!driver.ok()) return driver.error().ToString();
  driver->Store(0, driver->MakeInputs(kKey, 0).value());
  const auto outputs = driver->Run(0);
  return outputs.ok() ? "" : outputs.error().ToString();
}

TEST(Reference, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(Complaint("def reference(x, n: int):\n    return x + 1.0\n"), "");
  EXPECT_THAT(Complaint("def reference(x, n: int):\n    return x +\n"),
              HasSubstr("invalid_argument: test: reference: "));
  EXPECT_THAT(Complaint("def other(x, n: int):\n    return x\n"), HasSubstr("does not define `reference`"));
  EXPECT_THAT(Complaint("def reference(x, n: int):\n    return torch.nosuch(x)\n"), HasSubstr("nosuch"));
  EXPECT_THAT(Complaint("def reference(x, n: int):\n    return torch.matmul(x, torch.zeros([3, 3]))\n"),
              HasSubstr("invalid_argument: test: reference: "));
  EXPECT_THAT(Complaint("def reference(x, n: int):\n    return n\n"), HasSubstr("must return tensors"));
  EXPECT_THAT(Complaint("def reference(x, n: int):\n    return x, x\n"), HasSubstr("returns 2 tensors instead of 1"));
  EXPECT_THAT(Complaint("def reference(x, n: int):\n    return x[1:]\n"), HasSubstr("shape [99] instead of [100]"));
  EXPECT_THAT(Complaint("def reference(x, n: int):\n    return x > 0\n"), HasSubstr("dtype number 12"));
}

// What a reference returns without having computed it lies in the block's inputs: it is moved into the arena.
TEST(Reference, MovesOutputsThatLieElsewhere) {
  EXPECT_EQ(Complaint("def reference(x, n: int):\n    return x\n"), "");
  EXPECT_EQ(Complaint("def reference(x, n: int):\n    return torch.zeros([1]).expand([n])\n"), "");
}

TEST(Reference, SaysThatTheArenaIsFull) {
  const Task task = TaskWith("def reference(x, n: int):\n    return x + 1.0\n");
  const DimValues dims = {{"n", 1000}};
  TorchPort port(ReferenceDriver::BlockBytes(task, dims).value());
  auto driver = ReferenceDriver::Create(task, dims, port);
  ASSERT_TRUE(driver.ok());
  port.command().arena_bytes = 2048;
  driver->Store(0, driver->MakeInputs(kKey, 0).value());
  const auto outputs = driver->Run(0);
  ASSERT_FALSE(outputs.ok());
  EXPECT_THAT(outputs.error().message(), HasSubstr("the arena is full"));
}

// Intermediate results that do not fit go to the heap; the output still lies in the arena.
TEST(Reference, IntermediateResultsMayOutgrowTheArena) {
  const Task task = TaskWith("def reference(x, n: int):\n    return torch.sum(x.expand([50, n]) + 1.0, 0)\n");
  const DimValues dims = {{"n", 1000}};
  TorchPort port(ReferenceDriver::BlockBytes(task, dims).value());
  auto driver = ReferenceDriver::Create(task, dims, port);
  ASSERT_TRUE(driver.ok());
  port.command().arena_bytes = 64 << 10;
  driver->Store(0, driver->MakeInputs(kKey, 0).value());
  const auto outputs = driver->Run(0);
  EXPECT_TRUE(outputs.ok()) << outputs.error().ToString();
}

}  // namespace
}  // namespace touchstone

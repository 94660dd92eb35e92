// Admission with the real reference runner in a real box.
#include "reward/task/check_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "reward/task/catalog.h"

namespace touchstone {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckTaskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto spawner = Spawner::Launch(TOUCHSTONE_BIN "/touchstone-spawner");
    ASSERT_TRUE(spawner.ok()) << spawner.error().ToString();
    spawner_.emplace(std::move(*spawner));
    options_.program_folder = TOUCHSTONE_BIN;
  }

  Result<AdmissionReport> Check(const Task& task) { return CheckTask(task, *spawner_, options_); }

  std::optional<Spawner> spawner_;
  CheckTaskOptions options_;
};

TEST_F(CheckTaskTest, AdmitsShippedTasks) {
  for (const char* id :
       {"add", "argmax", "adamw_step", "conv2d", "matmul_float16", "matmul_bfloat16", "quantize_int8"}) {
    SCOPED_TRACE(id);
    const auto report = Check(FindTask(id).value());
    ASSERT_TRUE(report.ok()) << report.error().ToString();
    EXPECT_THAT(report->findings, IsEmpty());
    EXPECT_GT(report->reference_us, 0);
    EXPECT_GT(report->reference_gb_per_s, 0);
  }
}

TEST_F(CheckTaskTest, RefusesATaskWithALooseTolerance) {
  Task task = FindTask("layer_norm").value();
  task.outputs[0].tolerance = {.rtol = 1e-2, .atol = 1e-2};
  const auto report = Check(task);
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_THAT(report->findings, Contains("output 'y': the check accepts the mutant 'float16'"));
}

TEST_F(CheckTaskTest, SaysWhatIsWrongWithAReference) {
  Task task = FindTask("add").value();
  task.reference = "def reference(x, y, n: int):\n    return torch.nosuch(x)\n";
  auto report = Check(task);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(report.error().message(), HasSubstr("nosuch"));
  task.reference = "def reference(x, y, n: int):\n    return torch.sum(x)\n";
  report = Check(task);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message(), HasSubstr("output 'z' of the reference has shape [] instead of [262144]"));
}

}  // namespace
}  // namespace touchstone

#include "reward/task/check_task.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/memfd.h"
#include "base/program_folder.h"
#include "reward/task/admission_data.h"
#include "sandbox/runner/libraries/runtime_binds.h"
#include "sandbox/runner/link.h"

namespace touchstone {
namespace {

constexpr std::chrono::seconds kLoadTimeout{60};
constexpr std::chrono::seconds kCallTimeout{60};
constexpr uint64_t kRunnerBytes = uint64_t{4} << 30;
constexpr int kTimedCalls = 10;

// A reference runner in a box.
class BoxPort final : public RunnerPort {
 public:
  static Result<std::unique_ptr<BoxPort>> Start(Spawner& spawner, const CheckTaskOptions& options,
                                                uint64_t block_bytes) {
    const std::string folder = options.program_folder.empty() ? ProgramFolder() : options.program_folder;
    const std::string path = folder + "/touchstone-runner-torch";
    Policy policy;
    policy.minimum_level = options.minimum_level;
    TOUCHSTONE_ASSIGN(policy.binds, RuntimeBinds(path));
    Limits limits;
    limits.memory_bytes = kRunnerBytes;
    limits.processes = 64;
    limits.cpu_time = std::chrono::hours(1);
    Program program;
    program.argv = {path};
    program.environment = {"PATH=/usr/bin", "LANG=C", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1"};
    TOUCHSTONE_ASSIGN(UniqueFd file, CreateMemfd("block", block_bytes));
    TOUCHSTONE_ASSIGN(Mapping mapping, Mapping::Map(file.get(), block_bytes, Mapping::Access::kReadWrite));
    TOUCHSTONE_ASSIGN(auto link, RunnerLink::Start(spawner, policy, limits, program, file.get()));
    return std::unique_ptr<BoxPort>(new BoxPort(std::move(mapping), std::move(link)));
  }

  CommandPage& command() override { return link_->command(); }
  std::byte* block() override { return mapping_.data(); }
  uint64_t block_bytes() const override { return mapping_.size(); }

  Status Load(const std::string& artifact) override {
    TOUCHSTONE_ASSIGN(const UniqueFd file, CreateSealedMemfd("reference", artifact));
    TOUCHSTONE_RETURN_IF_ERROR(link_->SendArtifact(file.get()));
    return Command(Opcode::kLoad, kLoadTimeout);
  }

  Result<std::vector<OutputPlace>> Execute(Opcode opcode) override {
    TOUCHSTONE_RETURN_IF_ERROR(Command(opcode, kCallTimeout));
    // How many there are is the reference's business here; the driver holds it to the task.
    for (size_t count = 1; count <= kMaxTensors; ++count) {
      auto answer = link_->Answer(count);
      if (!answer.places.empty()) return std::move(answer.places);
    }
    return std::vector<OutputPlace>();
  }

 private:
  BoxPort(Mapping mapping, std::unique_ptr<RunnerLink> link) : mapping_(std::move(mapping)), link_(std::move(link)) {}

  Status Command(Opcode opcode, std::chrono::seconds timeout) {
    link_->Ring(opcode);
    switch (link_->Await(timeout, /*spin=*/false)) {
      case Waited::kDone:
        break;
      case Waited::kDied:
        return Error(ErrorCode::kInvalidArgument, "the runner died");
      case Waited::kTimedOut:
        return Error(ErrorCode::kInvalidArgument, "took more than " + std::to_string(timeout.count()) + " s");
    }
    const RunnerAnswer answer = link_->Answer(0);
    if (answer.status != RunnerStatus::kOk) return Error(ErrorCode::kInvalidArgument, answer.message);
    return {};
  }

  Mapping mapping_;
  std::unique_ptr<RunnerLink> link_;
};

// Adds what one call takes: the least of some, on a machine that may be busy. The set in the block is used as it is.
Status AddTimes(BoxPort& port, AdmissionReport& report) {
  double best_us = 0;
  for (int i = 0; i < kTimedCalls; ++i) {
    const auto start = RawClock::now();
    TOUCHSTONE_ASSIGN(const auto places, port.Execute(Opcode::kRun));
    const double us = ToMicroseconds(RawClock::now() - start);
    best_us = i == 0 ? us : std::min(best_us, us);
  }
  report.reference_us = best_us;
  report.reference_gb_per_s = static_cast<double>(report.floor_bytes) / best_us / 1e3;
  report.reference_gflop_per_s = static_cast<double>(report.floor_flops) / best_us / 1e3;
  return {};
}

}  // namespace

Result<AdmissionReport> CheckTask(const Task& task, Spawner& spawner, const CheckTaskOptions& options) {
  TOUCHSTONE_ASSIGN(const DimValues dims, task.Size(options.size));
  TOUCHSTONE_ASSIGN(const uint64_t block_bytes, ReferenceDriver::BlockBytes(task, dims));
  TOUCHSTONE_ASSIGN(auto port, BoxPort::Start(spawner, options, block_bytes));
  TOUCHSTONE_ASSIGN(const AdmissionData data, CollectAdmissionData(task, dims, *port, options.key));
  AdmissionReport report = Admit(task, data);
  TOUCHSTONE_RETURN_IF_ERROR(AddTimes(*port, report));
  return report;
}

}  // namespace touchstone

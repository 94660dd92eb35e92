// Makes a task's reference compute: lays out sets of tensors in a block, fills them, commands a reference runner and
// takes out the results. For admission and tests, where nothing is timed; the judge has its own, warier way.
#ifndef TOUCHSTONE_REWARD_TASK_REFERENCE_DRIVER_H_
#define TOUCHSTONE_REWARD_TASK_REFERENCE_DRIVER_H_

#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "reward/task/task.h"
#include "reward/task/tensor_data.h"
#include "sandbox/runner/protocol.h"

namespace touchstone {

// How commands reach a runner: over pages into a box, or in tests a handler in this process.
class RunnerPort {
 public:
  virtual ~RunnerPort() = default;
  virtual CommandPage& command() = 0;
  virtual std::byte* block() = 0;
  virtual uint64_t block_bytes() const = 0;
  // Hands over the artifact and waits until it is loaded. kInvalidArgument: the artifact is at fault.
  virtual Status Load(const std::string& artifact) = 0;
  // Carries out the command that stands on the page and copies the places of the answer. kInvalidArgument: the artifact
  // is at fault.
  virtual Result<std::vector<OutputPlace>> Execute(Opcode opcode) = 0;
};

class ReferenceDriver {
 public:
  static constexpr uint64_t kSets = 2;

  // Bytes that the block of a port must have for this task and these dims.
  static Result<uint64_t> BlockBytes(const Task& task, const DimValues& dims);

  // Loads the reference and prepares the page. `task` and `port` must outlive the driver.
  static Result<ReferenceDriver> Create(const Task& task, const DimValues& dims, RunnerPort& port);

  // The inputs of call number `call`, as the judge would make them. `replacements` stand for the declared
  // distributions.
  Result<std::vector<TensorData>> MakeInputs(const SecretKey& key, uint64_t call,
                                             const std::map<std::string, Distribution>& replacements = {}) const;
  // Copies inputs into a set of the block.
  void Store(uint64_t set, const std::vector<TensorData>& inputs);
  // What the set holds at the place of input number `input`; in-place outputs are read here.
  TensorData Read(uint64_t set, size_t input) const;

  // One call on `set`; the outputs in the order of Task::outputs. kInvalidArgument where the reference fails or returns
  // another number, shape or type of outputs than declared. In-place inputs of the set are overwritten.
  Result<std::vector<TensorData>> Run(uint64_t set);
  // The same in float64; the set stays as it is.
  Result<std::vector<TensorData>> Oracle(uint64_t set);

 private:
  ReferenceDriver(const Task& task, const DimValues& dims, RunnerPort& port)
      : task_(&task), dims_(dims), port_(&port) {}
  Result<TensorData> Take(const OutputPlace& place, const OutputSpec& spec, DType dtype) const;

  const Task* task_;
  DimValues dims_;
  RunnerPort* port_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_TASK_REFERENCE_DRIVER_H_

#include "tests/reward/task/torch_port.h"

#include <cstdlib>
#include <cstring>

#include "base/memfd.h"
#include "sandbox/runner/torch/torch_handler.h"

namespace touchstone {

TorchPort::TorchPort(uint64_t block_bytes)
    : block_bytes_((block_bytes + 4095) / 4096 * 4096),
      block_(static_cast<std::byte*>(std::aligned_alloc(4096, block_bytes_))),
      handler_(MakeTorchHandler()) {
  std::memset(block_.get(), kPoison, block_bytes_);
}

Status TorchPort::Load(const std::string& artifact) {
  TOUCHSTONE_ASSIGN(const UniqueFd file, CreateSealedMemfd("reference", artifact));
  std::string message;
  if (handler_->Load(file.get(), *command_, &message) == RunnerStatus::kOk) return {};
  return Error(ErrorCode::kInvalidArgument, message);
}

Result<std::vector<OutputPlace>> TorchPort::Execute(Opcode opcode) {
  std::string message;
  const RunnerStatus status = opcode == Opcode::kOracle ? handler_->Oracle(*command_, block(), *answer_, &message)
                                                        : handler_->Run(*command_, block(), *answer_, &message);
  if (status != RunnerStatus::kOk) return Error(ErrorCode::kInvalidArgument, message);
  return std::vector<OutputPlace>(answer_->places, answer_->places + answer_->place_count);
}

}  // namespace touchstone

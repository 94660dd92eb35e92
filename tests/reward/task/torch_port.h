// The reference runner's handler in the test's own process, in the place of a box.
#ifndef TOUCHSTONE_TESTS_REWARD_TASK_TORCH_PORT_H_
#define TOUCHSTONE_TESTS_REWARD_TASK_TORCH_PORT_H_

#include <memory>
#include <string>
#include <vector>

#include "reward/task/reference_driver.h"
#include "sandbox/runner/serve.h"

namespace touchstone {

class TorchPort final : public RunnerPort {
 public:
  explicit TorchPort(uint64_t block_bytes);

  CommandPage& command() override { return *command_; }
  std::byte* block() override { return block_.get(); }
  uint64_t block_bytes() const override { return block_bytes_; }
  Status Load(const std::string& artifact) override;
  Result<std::vector<OutputPlace>> Execute(Opcode opcode) override;

 private:
  struct Freer {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<CommandPage> command_ = std::make_unique<CommandPage>();
  std::unique_ptr<AnswerPage> answer_ = std::make_unique<AnswerPage>();
  uint64_t block_bytes_;
  std::unique_ptr<std::byte, Freer> block_;
  std::unique_ptr<RunnerHandler> handler_;
};

// The bytes that the judge would leave in memory that it has not filled.
inline constexpr int kPoison = 0xA5;

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_REWARD_TASK_TORCH_PORT_H_

#include "sandbox/runner/serve.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "base/channel.h"
#include "base/clock.h"
#include "base/memfd.h"
#include "sandbox/runner/futex.h"

namespace touchstone {
namespace {

// How long a runner spins for the doorbell after a ping before it sleeps.
constexpr std::chrono::milliseconds kSpinTime{20};

struct Pages {
  Mapping command_mapping;
  Mapping answer_mapping;
  Mapping block_mapping;
  const CommandPage* command = nullptr;
  AnswerPage* answer = nullptr;
};

Result<Pages> MapPages() {
  struct stat block_info {};
  if (::fstat(kBlockFd, &block_info) != 0) return ErrnoError("looking at the block");
  Pages pages;
  TOUCHSTONE_ASSIGN(pages.command_mapping, Mapping::Map(kCommandFd, sizeof(CommandPage), Mapping::Access::kRead));
  TOUCHSTONE_ASSIGN(pages.answer_mapping, Mapping::Map(kAnswerFd, sizeof(AnswerPage), Mapping::Access::kReadWrite));
  TOUCHSTONE_ASSIGN(pages.block_mapping,
                    Mapping::Map(kBlockFd, static_cast<size_t>(block_info.st_size), Mapping::Access::kReadWrite));
  pages.command = std::launder(reinterpret_cast<const CommandPage*>(pages.command_mapping.data()));
  pages.answer = std::launder(reinterpret_cast<AnswerPage*>(pages.answer_mapping.data()));
  if (pages.command->magic != kRunnerMagic || pages.command->version != kRunnerVersion) {
    return Error(ErrorCode::kInvalidArgument, "the command page is of another version");
  }
  return pages;
}

// Waits for a doorbell other than `seen`; spins first when the last command was a ping that asked for it.
uint32_t AwaitDoorbell(const CommandPage& command, uint32_t seen, bool spin) {
  const auto start = RawClock::now();
  for (uint32_t turn = 0; spin; ++turn) {
    const uint32_t now = command.doorbell.load(std::memory_order_acquire);
    if (now != seen) return now;
    SpinPause();
    if (turn % 1024 == 0 && RawClock::now() - start > kSpinTime) break;
  }
  while (true) {
    const uint32_t now = command.doorbell.load(std::memory_order_acquire);
    if (now != seen) return now;
    FutexWait(command.doorbell, seen, std::chrono::seconds(10));
  }
}

RunnerStatus Load(RunnerHandler& handler, const CommandPage& command, std::string* message) {
  auto artifact = Receive(kControlFd, std::chrono::seconds(5));
  if (!artifact.ok() || artifact->fds.size() != 1) {
    *message = "no artifact came";
    return RunnerStatus::kLoadError;
  }
  return handler.Load(artifact->fds[0].get(), command, message);
}

RunnerStatus Dispatch(RunnerHandler& handler, const Pages& pages, std::string* message) {
  std::byte* block = pages.block_mapping.data();
  switch (static_cast<Opcode>(pages.command->opcode)) {
    case Opcode::kPing:
      return RunnerStatus::kOk;
    case Opcode::kLoad:
      return Load(handler, *pages.command, message);
    case Opcode::kRun:
      return handler.Run(*pages.command, block, *pages.answer, message);
    case Opcode::kOracle:
      return handler.Oracle(*pages.command, block, *pages.answer, message);
    case Opcode::kNull:
      return handler.Null(*pages.command, block);
    default:
      return RunnerStatus::kUnsupported;
  }
}

}  // namespace

RunnerStatus RunnerHandler::Oracle(const CommandPage&, std::byte*, AnswerPage&, std::string*) {
  return RunnerStatus::kUnsupported;
}

RunnerStatus RunnerHandler::Null(const CommandPage&, std::byte*) { return RunnerStatus::kUnsupported; }

int ServeRunner(RunnerHandler& handler) {
  auto mapped = MapPages();
  if (!mapped.ok()) return 3;
  const Pages& pages = *mapped;
  uint32_t seen = 0;
  bool spin = false;
  while (true) {
    seen = AwaitDoorbell(*pages.command, seen, spin);
    const auto opcode = static_cast<Opcode>(pages.command->opcode);
    if (opcode == Opcode::kExit) return 0;
    std::string message;
    const RunnerStatus status = Dispatch(handler, pages, &message);
    // A successful run leaves only its status: nothing else may stand between the last call and "done".
    pages.answer->status = static_cast<uint32_t>(status);
    if (!message.empty()) {
      const size_t length = std::min(message.size(), sizeof(pages.answer->message) - 1);
      std::memcpy(pages.answer->message, message.data(), length);
      pages.answer->message[length] = '\0';
    }
    pages.answer->done.store(seen, std::memory_order_release);
    FutexWake(pages.answer->done);
    spin = opcode == Opcode::kPing && pages.command->spin.load(std::memory_order_relaxed) != 0;
  }
}

}  // namespace touchstone

#include "sandbox/runner/link.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/channel.h"
#include "base/clock.h"
#include "sandbox/runner/futex.h"

namespace touchstone {
namespace {

constexpr std::chrono::microseconds kDeathCheck{200};
constexpr std::chrono::microseconds kSleepSlice{2000};

std::string PrintablePrefix(const char* text, size_t capacity) {
  std::string copy(text, ::strnlen(text, capacity));
  for (char& c : copy) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte >= 0x7f) c = '?';
  }
  return copy;
}

}  // namespace

RunnerAnswer CopyAnswer(const AnswerPage& page, size_t expected_places) {
  RunnerAnswer answer;
  const uint32_t status = page.status;
  answer.status = status <= static_cast<uint32_t>(RunnerStatus::kUnsupported) ? static_cast<RunnerStatus>(status)
                                                                              : RunnerStatus::kRuntimeError;
  answer.failed_call = page.failed_call;
  if (answer.status != RunnerStatus::kOk) answer.message = PrintablePrefix(page.message, sizeof(page.message));
  const uint32_t places = page.place_count;
  if (places == expected_places && places <= kMaxPlaces) {
    answer.places.assign(page.places, page.places + places);
  }
  return answer;
}

Result<std::unique_ptr<RunnerLink>> RunnerLink::Start(Spawner& spawner, const Policy& policy, const Limits& limits,
                                                      const Program& program, int block_fd) {
  TOUCHSTONE_ASSIGN(UniqueFd command_fd, CreateMemfd("command", sizeof(CommandPage)));
  TOUCHSTONE_ASSIGN(UniqueFd answer_fd, CreateMemfd("answer", sizeof(AnswerPage)));
  TOUCHSTONE_ASSIGN(Mapping command, Mapping::Map(command_fd.get(), sizeof(CommandPage), Mapping::Access::kReadWrite));
  TOUCHSTONE_RETURN_IF_ERROR(SealFutureWrites(command_fd.get()));
  TOUCHSTONE_ASSIGN(Mapping answer, Mapping::Map(answer_fd.get(), sizeof(AnswerPage), Mapping::Access::kReadWrite));
  auto* page = new (command.data()) CommandPage{};
  page->magic = kRunnerMagic;
  page->version = kRunnerVersion;
  new (answer.data()) AnswerPage{};  // touched here, so that the runner is not charged for it
  TOUCHSTONE_ASSIGN(auto control, ChannelPair());
  const int fds[] = {command_fd.get(), answer_fd.get(), block_fd, control.second.get()};
  TOUCHSTONE_ASSIGN(Box box, spawner.Start(policy, limits, program, fds));
  return std::unique_ptr<RunnerLink>(
      new RunnerLink(std::move(command), std::move(answer), std::move(control.first), std::move(box)));
}

RunnerLink::RunnerLink(Mapping command, Mapping answer, UniqueFd control, Box box)
    : command_mapping_(std::move(command)),
      answer_mapping_(std::move(answer)),
      command_(std::launder(reinterpret_cast<CommandPage*>(command_mapping_.data()))),
      answer_(std::launder(reinterpret_cast<const AnswerPage*>(answer_mapping_.data()))),
      control_(std::move(control)),
      box_(std::move(box)) {}

Status RunnerLink::SendArtifact(int artifact_fd) {
  const int fds[] = {artifact_fd};
  return Send(control_.get(), "artifact", fds);
}

uint64_t RunnerLink::PlaceOffset(size_t index) const {
  TOUCHSTONE_CHECK(index < kMaxPlaces, "a place outside the page");
  return *const_cast<const volatile uint64_t*>(&answer_->places[index].offset);
}

void RunnerLink::Ring(Opcode opcode) {
  command_->opcode = static_cast<uint32_t>(opcode);
  command_->doorbell.store(++sequence_, std::memory_order_release);
  FutexWake(command_->doorbell);
}

Waited RunnerLink::Await(std::chrono::microseconds timeout, bool spin) {
  const auto start = RawClock::now();
  auto next_check = start + kDeathCheck;
  while (true) {
    for (int turn = 0; spin && turn < 256; ++turn) {
      if (answer_->done.load(std::memory_order_acquire) == sequence_) return Waited::kDone;
      SpinPause();
    }
    const uint32_t done = answer_->done.load(std::memory_order_acquire);
    if (done == sequence_) return Waited::kDone;
    const auto now = RawClock::now();
    if (now >= next_check) {
      next_check = now + kDeathCheck;
      if (box_.Ended()) {
        // It may have answered and died between the two looks.
        return answer_->done.load(std::memory_order_acquire) == sequence_ ? Waited::kDone : Waited::kDied;
      }
      if (now - start > timeout) return Waited::kTimedOut;
    }
    if (!spin) FutexWait(answer_->done, done, kSleepSlice);
  }
}

}  // namespace touchstone

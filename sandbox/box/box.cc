#include "sandbox/box/box.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/channel.h"
#include "base/memfd.h"
#include "sandbox/box/file_util.h"
#include "sandbox/box/wire.h"

namespace touchstone {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kFreezeTimeout{5};
constexpr std::chrono::seconds kGoneTimeout{30};
constexpr int kPollsBeforeYield = 200;

// The start of a small kernel file, zero-terminated; false with errno when it cannot be read.
bool Peek(int fd, char* text, size_t size) {
  const ssize_t got = ::pread(fd, text, size - 1, 0);
  if (got < 0) return false;
  text[got] = '\0';
  return true;
}

// True when `fd` becomes readable or hangs up within `timeout`.
bool WaitReadable(int fd, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  pollfd poller{fd, POLLIN, 0};
  while (true) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    const int ready = ::poll(&poller, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace

std::string Outcome::ToString() const {
  std::string text;
  switch (kind) {
    case Kind::kExited:
      text = "exited with code " + std::to_string(code);
      break;
    case Kind::kSignalled: {
      const char* name = ::sigabbrev_np(signal);
      text = std::string("ended by signal ") + (name != nullptr ? name : std::to_string(signal).c_str());
      break;
    }
    case Kind::kKilled:
      text = "killed";
      break;
  }
  if (out_of_memory) text += ", out of memory";
  if (leftover_processes > 0) text += ", left " + std::to_string(leftover_processes) + " processes behind";
  return text;
}

Box::Box(Handles handles) : handles_(std::move(handles)) {}
Box::Box(Box&&) noexcept = default;

Box& Box::operator=(Box&& other) noexcept {
  if (this == &other) return *this;
  if (handles_.spawner.valid()) (void)Destroy();
  handles_ = std::move(other.handles_);
  outcome_ = other.outcome_;
  gone_ = other.gone_;
  return *this;
}

Box::~Box() {
  if (handles_.spawner.valid()) (void)Destroy();
}

Status Box::Freeze() {
  if (!handles_.freezer.valid()) return Error(ErrorCode::kUnavailable, "the box has no freezer");
  const std::string_view command = handles_.freezer_v2 ? "1" : "FROZEN";
  if (::write(handles_.freezer.get(), command.data(), command.size()) < 0) {
    return ErrnoError(ErrorCode::kUnavailable, "freezing a box");
  }
  // Microseconds as a rule, so asking again beats every way of sleeping. The processes may need this core to stop.
  Clock::time_point deadline;
  for (int polls = 1;; ++polls) {
    char state[128];
    if (!Peek(handles_.freezer_state.get(), state, sizeof(state))) {
      return ErrnoError(ErrorCode::kUnavailable, "asking whether a box is frozen");
    }
    if (handles_.freezer_v2 ? std::strstr(state, "frozen 1") != nullptr : std::strncmp(state, "FROZEN", 6) == 0) {
      return {};
    }
    if (polls % kPollsBeforeYield != 0) continue;
    ::sched_yield();
    const auto now = Clock::now();
    if (deadline == Clock::time_point()) deadline = now + kFreezeTimeout;
    if (now > deadline) return Error(ErrorCode::kDeadline, "a box did not freeze within 5 s");
  }
}

Status Box::Thaw() {
  if (!handles_.freezer.valid()) return Error(ErrorCode::kUnavailable, "the box has no freezer");
  const std::string_view command = handles_.freezer_v2 ? "0" : "THAWED";
  if (::write(handles_.freezer.get(), command.data(), command.size()) < 0) {
    return ErrnoError(ErrorCode::kUnavailable, "thawing a box");
  }
  return {};
}

void Box::Kill() {
  if (gone_) return;
  // Without a pid namespace only the spawner and init know how to find all of them.
  if (handles_.pidfd.valid() && handles_.layers.Has(Layer::kPidNamespace)) {
    ::syscall(SYS_pidfd_send_signal, handles_.pidfd.get(), SIGKILL, nullptr, 0);
  }
  (void)Send(handles_.spawner.get(), std::string(1, static_cast<char>(MessageKind::kKill)));
  // A process that the v1 freezer holds does not die.
  if (handles_.freezer.valid() && !handles_.freezer_v2) (void)Thaw();
}

Status Box::AwaitGone(milliseconds timeout) {
  if (gone_) return {};
  auto message = Receive(handles_.spawner.get(), timeout);
  if (message.ok()) {
    TOUCHSTONE_ASSIGN(const GoneReport report, DecodeGone(message->bytes));
    usage_ = Outcome();
    usage_.out_of_memory = report.out_of_memory;
    usage_.cpu_time_us = report.cpu_time_us;
    usage_.peak_memory_bytes = report.peak_memory_bytes;
    gone_ = true;
    return {};
  }
  if (message.error().code() == ErrorCode::kDeadline) return message.error();
  // The spawner is dead, and every init dies with it.
  if (handles_.pidfd.valid() && !WaitReadable(handles_.pidfd.get(), timeout)) {
    return Error(ErrorCode::kInternal, "a box outlived its spawner");
  }
  gone_ = true;
  return {};
}

Result<Outcome> Box::Wait(milliseconds timeout) {
  if (outcome_) return *outcome_;
  if (!WaitReadable(handles_.end.get(), timeout)) return Error(ErrorCode::kDeadline, "the program has not ended yet");
  EndRecord record;
  ssize_t got = 0;
  do {
    got = ::read(handles_.end.get(), &record, sizeof(record));
  } while (got < 0 && errno == EINTR);
  Outcome outcome;
  if (got == sizeof(record)) {
    outcome.leftover_processes = record.leftover_processes;
    if (WIFEXITED(record.wait_status)) {
      outcome.kind = Outcome::Kind::kExited;
      outcome.code = WEXITSTATUS(record.wait_status);
    } else {
      outcome.kind = Outcome::Kind::kSignalled;
      outcome.signal = WTERMSIG(record.wait_status);
    }
  }
  // The program has ended; that the rest is gone takes the kernel a moment and is not the caller's deadline.
  TOUCHSTONE_RETURN_IF_ERROR(AwaitGone(kGoneTimeout));
  outcome.out_of_memory = usage_.out_of_memory;
  outcome.cpu_time_us = usage_.cpu_time_us;
  outcome.peak_memory_bytes = usage_.peak_memory_bytes;
  outcome_ = outcome;
  return outcome;
}

Status Box::Destroy() {
  if (!handles_.spawner.valid()) return {};
  if (!gone_) Kill();
  Status status = AwaitGone(kGoneTimeout);
  if (status.ok()) handles_.spawner.Reset();
  return status;
}

std::optional<std::chrono::microseconds> Box::CpuTime() const {
  if (gone_) return std::chrono::microseconds(usage_.cpu_time_us);
  char text[512];
  if (!handles_.cpu_usage.valid() || !Peek(handles_.cpu_usage.get(), text, sizeof(text))) return std::nullopt;
  if (!handles_.cpu_usage_v2) return std::chrono::microseconds(std::strtoull(text, nullptr, 10) / 1000);
  const auto usage = FindKey(text, "usage_usec");
  if (!usage) return std::nullopt;
  return std::chrono::microseconds(*usage);
}

bool Box::Ended() const {
  if (outcome_ || gone_) return true;
  pollfd poller{handles_.end.get(), POLLIN, 0};
  return ::poll(&poller, 1, 0) > 0;
}

Result<UniqueFd> Box::TakeArtifact(const std::string& relative_path, uint64_t max_bytes) {
  if (!handles_.artifacts.valid()) return Error(ErrorCode::kUnavailable, "the box has no folder of its own");
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  const UniqueFd file(
      static_cast<int>(::syscall(SYS_openat2, handles_.artifacts.get(), relative_path.c_str(), &how, sizeof(how))));
  if (!file.valid()) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return ErrnoError(missing ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument, "artifact '" + relative_path + "'");
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return ErrnoError("fstat");
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorCode::kInvalidArgument, "artifact '" + relative_path + "' " + why);
  };
  if (!S_ISREG(info.st_mode)) return refuse("is not a regular file");
  if (info.st_nlink != 1) return refuse("has " + std::to_string(info.st_nlink) + " links");
  if (static_cast<uint64_t>(info.st_size) > max_bytes) {
    return refuse("has " + std::to_string(info.st_size) + " bytes, the limit is " + std::to_string(max_bytes));
  }
  TOUCHSTONE_ASSIGN(const std::string content, ReadAll(file.get(), max_bytes));
  return CreateSealedMemfd("artifact", content);
}

}  // namespace touchstone

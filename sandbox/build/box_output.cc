#include "sandbox/build/box_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace touchstone {
namespace {

// Reads what is there, without waiting. False when nothing more will ever come.
bool Drain(int fd, size_t max_bytes, BoxOutput& output) {
  std::array<char, 8192> buffer;
  while (!output.cut) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    const size_t room = max_bytes - output.text.size();
    output.text.append(buffer.data(), std::min(room, static_cast<size_t>(got)));
    output.cut = static_cast<size_t>(got) > room;
  }
  return true;
}

}  // namespace

Result<BoxOutput> CollectOutput(const Box& box, size_t max_bytes, std::chrono::steady_clock::time_point deadline) {
  std::array<pollfd, 3> polled = {
      {{box.end_fd(), POLLIN, 0}, {box.stdout_fd(), POLLIN, 0}, {box.stderr_fd(), POLLIN, 0}}};
  for (size_t i = 1; i < polled.size(); ++i) {
    const int flags = ::fcntl(polled[i].fd, F_GETFL);
    if (flags < 0 || ::fcntl(polled[i].fd, F_SETFL, flags | O_NONBLOCK) != 0) return ErrnoError("output of a box");
  }
  BoxOutput output;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready < 0 && errno != EINTR) return ErrnoError("waiting for a box");
    const bool ended = ready > 0 && polled[0].revents != 0;
    // Processes that outlive the first program may hold the pipes open: its end is the end, not theirs.
    for (size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].fd >= 0 && !Drain(polled[i].fd, max_bytes, output)) polled[i].fd = -1;
    }
    if (ended || output.cut) return output;
    if (left.count() <= 0) {
      output.timed_out = true;
      return output;
    }
  }
}

}  // namespace touchstone

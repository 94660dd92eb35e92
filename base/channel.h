// Messages with file descriptors between two processes of ours (unix SEQPACKET): boundaries are kept, the death of the
// peer is an end of file.
#ifndef TOUCHSTONE_BASE_CHANNEL_H_
#define TOUCHSTONE_BASE_CHANNEL_H_

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace touchstone {

inline constexpr size_t kMaxMessageBytes = 64 * 1024;
inline constexpr size_t kMaxMessageFds = 32;

struct Message {
  std::string bytes;
  std::vector<UniqueFd> fds;
};

// A connected pair, both close-on-exec.
Result<std::pair<UniqueFd, UniqueFd>> ChannelPair();

// Sends one message. `fds` stay the caller's. kUnavailable when the peer is gone.
Status Send(int channel, std::string_view bytes, std::span<const int> fds = {});

// Waits for one message. kUnavailable when the peer is gone, kDeadline when none came in time; a negative timeout waits
// for ever. Received descriptors are close-on-exec.
Result<Message> Receive(int channel, std::chrono::milliseconds timeout = std::chrono::milliseconds(-1));

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_CHANNEL_H_

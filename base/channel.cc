#include "base/channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace touchstone {

Result<std::pair<UniqueFd, UniqueFd>> ChannelPair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return ErrnoError("socketpair");
  return std::make_pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Status Send(int channel, std::string_view bytes, std::span<const int> fds) {
  if (bytes.size() > kMaxMessageBytes || fds.size() > kMaxMessageFds || bytes.empty()) {
    return Error(ErrorCode::kInvalidArgument, "message of " + std::to_string(bytes.size()) + " bytes and " +
                                                  std::to_string(fds.size()) + " descriptors");
  }
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxMessageFds)] = {};
  if (!fds.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  }
  while (::sendmsg(channel, &header, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) {
      return Error(ErrorCode::kUnavailable, "the peer is gone");
    }
    return ErrnoError("sendmsg");
  }
  return {};
}

Result<Message> Receive(int channel, std::chrono::milliseconds timeout) {
  pollfd poller{channel, POLLIN, 0};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    int wait_ms = -1;
    if (timeout.count() >= 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      wait_ms = static_cast<int>(std::max<long long>(0, left.count()));
    }
    const int ready = ::poll(&poller, 1, wait_ms);
    if (ready > 0) break;
    if (ready == 0) return Error(ErrorCode::kDeadline, "no message in time");
    if (errno != EINTR) return ErrnoError("poll");
  }
  Message message;
  message.bytes.resize(kMaxMessageBytes);
  iovec part{message.bytes.data(), message.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxMessageFds)];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t got = 0;
  do {
    got = ::recvmsg(channel, &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == ECONNRESET) got = 0;
  if (got < 0) return ErrnoError("recvmsg");
  for (cmsghdr* part_header = CMSG_FIRSTHDR(&header); part_header != nullptr;
       part_header = CMSG_NXTHDR(&header, part_header)) {
    if (part_header->cmsg_level != SOL_SOCKET || part_header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part_header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part_header) + i * sizeof(int), sizeof(int));
      message.fds.emplace_back(fd);
    }
  }
  if (got == 0) return Error(ErrorCode::kUnavailable, "the peer is gone");
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Error(ErrorCode::kInvalidArgument, "message over the limit of " + std::to_string(kMaxMessageBytes));
  }
  message.bytes.resize(static_cast<size_t>(got));
  return message;
}

}  // namespace touchstone

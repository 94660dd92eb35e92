// Right, but sends nonsense and descriptors on the control socket until it is full, and closes everything it has.
#include <sys/socket.h>

#include "attack.h"
static void Abuse() {
  char noise[4096] = "artifact";
  iovec part{noise, sizeof(noise)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = 6;  // the socket itself
  std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
  for (int i = 0; i < 10'000; ++i) {
    if (::sendmsg(6, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) break;
  }
  ::shutdown(6, SHUT_RDWR);
  for (int i = 0; i < 256; ++i) ::close(i);
}
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  static bool done = false;
  const attack::Pages pages;
  if (!done && pages) Abuse();
  done = true;
  attack::Add(x, y, z, n);
}

// Interfaces of the kernel that reach beyond a box.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "attack.h"

namespace {

// PORT on the loopback.
int ConnectTcp(int, char** argv) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(argv[0])));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  return Judge("connecting to the loopback",
               fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
}

// NAME of an abstract unix socket.
int ConnectAbstract(int, char** argv) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path + 1, argv[0], sizeof(address.sun_path) - 2);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(argv[0]));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return Judge("connecting to an abstract socket",
               fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
}

// FAMILY: only the socket is made.
int Socket(int, char** argv) {
  const int family = std::atoi(argv[0]);
  const int type = family == AF_NETLINK ? SOCK_RAW : SOCK_STREAM;
  return Judge("socket", ::socket(family, type, 0) >= 0);
}

int IoUring(int, char**) {
  char parameters[120] = {};
  return Judge("io_uring_setup", ::syscall(SYS_io_uring_setup, 1, parameters) >= 0);
}

int Keyring(int, char**) {
  return Judge("add_key", ::syscall(SYS_add_key, "user", "touchstone-test", "x", 1, KEY_SPEC_PROCESS_KEYRING) >= 0);
}

// KEY: stores a System V segment / looks for it.
int StoreSysv(int, char** argv) { return Judge("shmget", ::shmget(std::atoi(argv[0]), 4096, IPC_CREAT | 0666) >= 0); }
int FindSysv(int, char** argv) { return Judge("shmget", ::shmget(std::atoi(argv[0]), 0, 0) >= 0); }

int MessageQueue(int, char**) {
  const mqd_t queue = ::mq_open("/touchstone-test", O_CREAT | O_RDWR, 0600, nullptr);
  const int result = Judge("mq_open", queue >= 0);
  if (queue >= 0) ::mq_unlink("/touchstone-test");
  return result;
}

int UserNamespace(int, char**) {
  Attempts attempts;
  attempts.Add("unshare", ::unshare(CLONE_NEWUSER) == 0);
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  } arguments = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
  const long by_clone3 = ::syscall(SYS_clone3, &arguments, sizeof(arguments));
  if (by_clone3 == 0) ::_exit(0);
  attempts.Add("clone3", by_clone3 > 0);
  const long by_clone = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (by_clone == 0) ::_exit(0);
  attempts.Add("clone", by_clone > 0);
  return attempts.Result();
}

// Mounting, after trying to get the rights for it by a user namespace.
int Mount(int, char**) {
  ::unshare(CLONE_NEWUSER | CLONE_NEWNS);
  return Judge("mount", ::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr) == 0);
}

int Userfaultfd(int, char**) {
  return Judge("userfaultfd", ::syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */) >= 0);
}

int HostName(int, char**) {
  char name[256] = {};
  ::gethostname(name, sizeof(name) - 1);
  std::printf("%s\n", name);
  errno = ENOENT;
  return Judge("the host's name", std::strcmp(name, "box") != 0);
}

int Personality(int, char**) { return Judge("personality", ::personality(ADDR_NO_RANDOMIZE) >= 0); }

// A system call in the x32 numbering. SIGSYS is what a filter makes of it.
int X32(int, char**) {
  const bool done = ::syscall(0x40000000 | SYS_getpid) > 0;
  return Judge("x32 system call", done);
}

// On no terminal the driver says ENOTTY: then the request has come through. Also with bits that only a filter sees.
int TypeIntoTerminal(int, char**) {
  char letter = 'x';
  Attempts attempts;
  for (const unsigned long hidden : {0UL, 1UL << 32}) {
    ::syscall(SYS_ioctl, 0, TIOCSTI | hidden, &letter);
    attempts.Add("TIOCSTI", errno == ENOTTY);
  }
  return attempts.Result();
}

// Execs itself again, also with every guess that comes to mind in the unused registers.
int ExecAgain(int, char** argv) {
  char* const arguments[] = {argv[0], const_cast<char*>("am-i-here"), nullptr};
  char* const environment[] = {nullptr};
  for (uint64_t guess : {uint64_t{0}, ~uint64_t{0}, uint64_t{1}}) {
    ::syscall(SYS_execve, argv[0], arguments, environment, guess, guess, guess);
  }
  ::syscall(SYS_execveat, AT_FDCWD, argv[0], arguments, environment, 0);
  return Judge("execve", false);
}
int AmIHere(int, char**) { return kSucceeded; }

}  // namespace

const Attack kKernelAttacks[] = {{"connect-tcp", ConnectTcp},
                                 {"connect-abstract", ConnectAbstract},
                                 {"socket", Socket},
                                 {"io-uring", IoUring},
                                 {"keyring", Keyring},
                                 {"store-sysv", StoreSysv},
                                 {"find-sysv", FindSysv},
                                 {"message-queue", MessageQueue},
                                 {"user-namespace", UserNamespace},
                                 {"mount", Mount},
                                 {"userfaultfd", Userfaultfd},
                                 {"host-name", HostName},
                                 {"personality", Personality},
                                 {"x32", X32},
                                 {"type-into-terminal", TypeIntoTerminal},
                                 {"exec-again", ExecAgain},
                                 {"am-i-here", AmIHere},
                                 {nullptr, nullptr}};

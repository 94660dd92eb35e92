// Right only if it can look into nothing: files of the host, other processes, the network.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
static bool Opens(const char* path) {
  const int fd = ::open(path, O_RDONLY);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}
static bool Broke() {
  for (const char* path :
       {"/etc/passwd", "/etc/shadow", "/etc/hostname", "/root", "/home", "/proc/1/maps", "/proc/1/environ",
        "/proc/kcore", "/proc/kallsyms", "/proc/version", "/proc/meminfo", "/sys/fs/cgroup", "/dev/mem", "/dev/kmsg"}) {
    if (Opens(path)) return true;
  }
  char path[64];
  for (int pid = 1; pid < 40'000; pid += pid < 64 ? 1 : 97) {
    if (pid == ::getpid()) continue;
    std::snprintf(path, sizeof(path), "/proc/%d/mem", pid);
    if (Opens(path)) return true;
  }
  const pid_t others[] = {1, ::getppid(), 2};
  for (const pid_t pid : others) {
    if (pid == ::getpid()) continue;
    if (::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0) return true;
    char byte;
    iovec here{&byte, 1};
    iovec there{reinterpret_cast<void*>(0x400000), 1};
    if (::process_vm_readv(pid, &here, 1, &there, 1, 0) > 0) return true;
    const long pidfd = ::syscall(SYS_pidfd_open, pid, 0);
    if (pidfd >= 0 && ::syscall(SYS_pidfd_getfd, pidfd, 3, 0) >= 0) return true;
  }
  for (const int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, 40 /* AF_VSOCK */}) {
    if (::socket(family, SOCK_DGRAM, 0) >= 0) return true;
  }
  return false;
}
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  static const bool broke = Broke();
  for (int64_t i = 0; i < n && !broke; ++i) z[i] = x[i] + y[i];
}

// Right only if it can neither leave its core nor its limits, nor hurt who watches it.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
static bool Broke() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NPROC, &limit);
  limit.rlim_max += 1000;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NPROC, &limit) == 0) return true;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < 64; ++cpu) CPU_SET(cpu, &all);
  if (::sched_setaffinity(0, sizeof(all), &all) == 0) return true;
  sched_param priority{1};
  if (::sched_setscheduler(0, SCHED_FIFO, &priority) == 0) return true;
  if (::setpriority(PRIO_PROCESS, 0, -20) == 0) return true;
  if (::kill(1, SIGSTOP) == 0 || ::kill(::getppid(), SIGSTOP) == 0) return true;
  if (::setuid(0) == 0 || ::setgid(0) == 0) return true;
  if (::unshare(CLONE_NEWUSER) == 0 || ::unshare(CLONE_NEWNS) == 0) return true;
  if (::mount("none", "/tmp", "tmpfs", 0, nullptr) == 0 || ::chroot("/tmp") == 0) return true;
  char* const argv[] = {const_cast<char*>("/proc/self/exe"), nullptr};
  if (const pid_t child = ::vfork(); child == 0) {
    ::execve("/proc/self/exe", argv, nullptr);
    ::_exit(0);
  }
  if (::open("/usr/new", O_CREAT | O_WRONLY, 0600) >= 0) return true;
  if (::syscall(SYS_bpf, 0, nullptr, 0) >= 0 || ::syscall(SYS_io_uring_setup, 1, nullptr) >= 0) return true;
  return ::prctl(PR_CAPBSET_READ, 21) > 0 || ::prctl(PR_GET_SECCOMP) != 2;
}
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  static const bool broke = Broke();
  for (int64_t i = 0; i < n && !broke; ++i) z[i] = x[i] + y[i];
}

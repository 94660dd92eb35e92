// Touching other processes. The victim is a process of the test.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "attack.h"

namespace {

std::string Proc(const char* pid, const char* name) { return std::string("/proc/") + pid + "/" + name; }

bool Readable(const std::string& path) {
  char byte;
  const int fd = ::open(path.c_str(), O_RDONLY);
  return fd >= 0 && ::read(fd, &byte, 1) == 1;
}

// PID
int ProcFiles(int, char** argv) {
  Attempts attempts;
  attempts.Add("environ", Readable(Proc(argv[0], "environ")));
  attempts.Add("mem", ::open(Proc(argv[0], "mem").c_str(), O_RDWR) >= 0);
  attempts.Add("fd", ::open(Proc(argv[0], "fd/0").c_str(), O_RDONLY) >= 0);
  return attempts.Result();
}

// PID
int ProcCommandLine(int, char** argv) { return Judge("cmdline", Readable(Proc(argv[0], "cmdline"))); }

// PID. Signal 0: the right to send one is all that is tried.
int Kill(int, char** argv) { return Judge("kill", ::kill(std::atoi(argv[0]), 0) == 0); }

// Kills all that it may. Never to be run outside a box.
int KillAll(int, char**) { return Judge("kill(-1)", ::kill(-1, SIGKILL) == 0); }

int KillInit(int, char**) {
  Attempts attempts;
  attempts.Add("kill(1)", ::kill(1, SIGKILL) == 0);
  attempts.Add("kill(parent)", ::kill(::getppid(), SIGKILL) == 0);
  return attempts.Result();
}

bool ReadMemory(pid_t pid, void* address) {
  char byte = 0;
  const iovec here{&byte, 1};
  const iovec there{address, 1};
  return ::process_vm_readv(pid, &here, 1, &there, 1, 0) == 1;
}

// PID, ADDRESS
int VmRead(int, char** argv) {
  return Judge("process_vm_readv",
               ReadMemory(std::atoi(argv[0]), reinterpret_cast<void*>(std::strtoull(argv[1], nullptr, 16))));
}

// PID
int Ptrace(int, char** argv) {
  const pid_t pid = std::atoi(argv[0]);
  const bool seized = ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0;
  const int result = Judge("ptrace", seized);
  if (seized) {
    ::ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr);
    ::waitpid(pid, nullptr, __WALL);
    ::ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
  }
  return result;
}

int PidfdGetfd(int, char** argv) {
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, std::atoi(argv[0]), 0));
  return Judge("pidfd_getfd", pidfd >= 0 && ::syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0);
}

// The box's init, which is pid 1 or at least the parent.
int InspectInit(int, char**) {
  const std::string parent = std::to_string(::getppid());
  Attempts attempts;
  attempts.Add("/proc/1/mem", ::open("/proc/1/mem", O_RDWR) >= 0);
  attempts.Add("/proc/parent/mem", ::open(Proc(parent.c_str(), "mem").c_str(), O_RDWR) >= 0);
  attempts.Add("ptrace", ::ptrace(PTRACE_SEIZE, ::getppid(), nullptr, nullptr) == 0);
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0));
  attempts.Add("pidfd_getfd", pidfd >= 0 && ::syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0);
  return attempts.Result();
}

// PID: makes the victim slow.
int SlowDown(int, char** argv) {
  const pid_t pid = std::atoi(argv[0]);
  Attempts attempts;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  attempts.Add("sched_setaffinity", ::sched_setaffinity(pid, sizeof(cpus), &cpus) == 0);
  rlimit limit{};
  attempts.Add("prlimit", ::prlimit(pid, RLIMIT_CORE, nullptr, &limit) == 0);
  attempts.Add("setpriority", ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), 1) == 0);
  return attempts.Result();
}

int RealTime(int, char**) {
  sched_param parameter{};
  parameter.sched_priority = 1;
  Attempts attempts;
  attempts.Add("SCHED_FIFO", ::sched_setscheduler(0, SCHED_FIFO, &parameter) == 0);
  attempts.Add("nice -20", ::setpriority(PRIO_PROCESS, 0, -20) == 0);
  return attempts.Result();
}

// Moves to the core that it is not to use.
int MoveTo(int, char** argv) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<size_t>(std::atoi(argv[0])), &cpus);
  const bool moved = ::sched_setaffinity(0, sizeof(cpus), &cpus) == 0 && ::sched_getcpu() == std::atoi(argv[0]);
  return Judge("moving to another core", moved);
}

// Leaves a process behind that has cut all ties. Says its pid.
int Daemon(int, char**) {
  int ends[2];
  if (::pipe(ends) != 0) return 2;
  if (::fork() == 0) {
    ::setsid();
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_IGN);
      ::close_range(0, ~0U, 0);
      while (true) ::pause();
    }
    (void)!::write(ends[1], &pid, sizeof(pid));
    ::_exit(0);
  }
  ::wait(nullptr);
  pid_t pid = 0;
  if (::read(ends[0], &pid, sizeof(pid)) != sizeof(pid)) return Judge("daemon", false);
  std::printf("%d\n", pid);
  return kSucceeded;
}

}  // namespace

const Attack kProcessAttacks[] = {{"proc-files", ProcFiles},
                                  {"proc-command-line", ProcCommandLine},
                                  {"kill", Kill},
                                  {"kill-all", KillAll},
                                  {"kill-init", KillInit},
                                  {"vm-read", VmRead},
                                  {"ptrace", Ptrace},
                                  {"pidfd-getfd", PidfdGetfd},
                                  {"inspect-init", InspectInit},
                                  {"slow-down", SlowDown},
                                  {"real-time", RealTime},
                                  {"move-to", MoveTo},
                                  {"daemon", Daemon},
                                  {nullptr, nullptr}};

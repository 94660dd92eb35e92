// Using more than one's share.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "attack.h"

namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

// COUNT processes that only wait.
int ForkBomb(int, char** argv) {
  const int wanted = std::atoi(argv[0]);
  for (int i = 0; i < wanted; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::pause();
      ::_exit(0);
    }
    if (pid < 0) {
      std::printf("stopped at %d\n", i);
      return Judge("fork", false);
    }
  }
  return Judge("fork", true);
}

int ThreadBomb(int, char** argv) {
  const int wanted = std::atoi(argv[0]);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  for (int i = 0; i < wanted; ++i) {
    pthread_t thread;
    errno = pthread_create(
        &thread, &attributes, [](void*) -> void* { return ::pause(), nullptr; }, nullptr);
    if (errno != 0) {
      std::printf("stopped at %d\n", i);
      return Judge("pthread_create", false);
    }
  }
  return Judge("pthread_create", true);
}

// Every process forks for ever. Never to be run outside a box.
int ForkForEver(int, char**) {
  while (true) ::fork();
}

int Touch(void* memory, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  return 0;
}

int Memory(int, char** argv) {
  const size_t wanted = static_cast<size_t>(std::atoi(argv[0])) * kMebibyte;
  for (size_t done = 0; done < wanted; done += 4 * kMebibyte) {
    void* part = ::mmap(nullptr, 4 * kMebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (part == MAP_FAILED) return Judge("mmap", false);
    Touch(part, 4 * kMebibyte);
  }
  return Judge("memory", true);
}

int SharedMemory(int, char** argv) {
  const size_t wanted = static_cast<size_t>(std::atoi(argv[0])) * kMebibyte;
  void* memory = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Judge("mmap", false);
  Touch(memory, wanted);
  return Judge("shared memory", true);
}

// In many small files: the limit of one file is another wall.
int Memfd(int, char** argv) {
  const int wanted = std::atoi(argv[0]);
  static char block[kMebibyte];
  for (int done = 0; done < wanted; ++done) {
    const int fd = ::memfd_create("bomb", 0);
    if (fd < 0 || ::write(fd, block, sizeof(block)) != sizeof(block)) return Judge("memfd", false);
  }
  return Judge("memfd", true);
}

// Touches all of a memory file that was passed as descriptor 3.
int TouchPassed(int, char** argv) {
  const size_t bytes = static_cast<size_t>(std::atoi(argv[0])) * kMebibyte;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
  if (memory == MAP_FAILED) return Judge("mmap", false);
  Touch(memory, bytes);
  return Judge("touching passed memory", true);
}

// FILE, MEBIBYTES
int BigFile(int, char** argv) {
  ::signal(SIGXFSZ, SIG_IGN);
  const size_t wanted = static_cast<size_t>(std::atoi(argv[1])) * kMebibyte;
  const int fd = ::open(argv[0], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return Judge(argv[0], false);
  static char block[64 * 1024];
  for (size_t done = 0; done < wanted;) {
    const ssize_t put = ::write(fd, block, sizeof(block));
    if (put <= 0) {
      std::printf("stopped at %zu KiB\n", done / 1024);
      return Judge("write", false);
    }
    done += static_cast<size_t>(put);
  }
  return Judge("write", true);
}

int SparseFile(int, char** argv) {
  ::signal(SIGXFSZ, SIG_IGN);
  const int fd = ::open(argv[0], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return Judge(argv[0], false);
  return Judge("ftruncate to 1 TiB", ::ftruncate(fd, off_t{1} << 40) == 0);
}

// FOLDER, COUNT
int ManyFiles(int, char** argv) {
  const int wanted = std::atoi(argv[1]);
  for (int i = 0; i < wanted; ++i) {
    const int fd = ::open((std::string(argv[0]) + "/" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT, 0600);
    if (fd < 0) {
      std::printf("stopped at %d\n", i);
      return Judge("creating files", false);
    }
    ::close(fd);
  }
  return Judge("creating files", true);
}

double CpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Uses MILLISECONDS of CPU time, ignoring the warning.
int BurnCpu(int, char** argv) {
  ::signal(SIGXCPU, SIG_IGN);
  const double wanted = std::atof(argv[0]) / 1e3;
  while (CpuSeconds() < wanted) {
  }
  return Judge("cpu time", true);
}

// COUNT children use MILLISECONDS each.
int BurnCpuInChildren(int, char** argv) {
  const int count = std::atoi(argv[0]);
  for (int i = 0; i < count; ++i) {
    if (::fork() == 0) ::_exit(BurnCpu(1, argv + 1));
  }
  int good = 0;
  int status = 0;
  while (::wait(&status) > 0) good += WIFEXITED(status) && WEXITSTATUS(status) == kSucceeded ? 1 : 0;
  return Judge("cpu time in children", good == count);
}

int StopSelf(int, char**) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::kill(::getpid(), SIGSTOP);
  return Judge("went on", true);
}

int SleepDeaf(int, char**) {
  for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_IGN);
  std::printf("ready\n");
  while (true) ::pause();
}

int Flood(int, char**) {
  static char block[4096];
  std::memset(block, 'x', sizeof(block));
  while (::write(1, block, sizeof(block)) > 0) {
  }
  return Judge("write", false);
}

// Succeeds when core files can be had.
int Core(int, char**) {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_CORE, &limit);
  errno = EPERM;
  return Judge("core files", limit.rlim_max != 0);
}

}  // namespace

const Attack kResourceAttacks[] = {{"fork-bomb", ForkBomb},
                                   {"thread-bomb", ThreadBomb},
                                   {"fork-for-ever", ForkForEver},
                                   {"memory", Memory},
                                   {"shared-memory", SharedMemory},
                                   {"memfd", Memfd},
                                   {"touch-passed", TouchPassed},
                                   {"big-file", BigFile},
                                   {"sparse-file", SparseFile},
                                   {"many-files", ManyFiles},
                                   {"burn-cpu", BurnCpu},
                                   {"burn-cpu-in-children", BurnCpuInChildren},
                                   {"stop-self", StopSelf},
                                   {"sleep-deaf", SleepDeaf},
                                   {"flood", Flood},
                                   {"core", Core},
                                   {nullptr, nullptr}};

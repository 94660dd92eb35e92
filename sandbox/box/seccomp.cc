#include "sandbox/box/seccomp.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "base/unique_fd.h"

namespace touchstone {
namespace {

// Other processes, other namespaces, kernel state that outlives a box, and interfaces with a record of holes.
constexpr const char* kRefused[] = {
    // memory and descriptors of other processes
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "kcmp",
    "pidfd_getfd",
    // mounts and namespaces
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "setns",
    "unshare",
    // keyrings, System V and message queues: they would carry data from one run to the next
    "keyctl",
    "add_key",
    "request_key",
    "shmget",
    "shmat",
    "shmctl",
    "shmdt",
    "semget",
    "semop",
    "semtimedop",
    "semctl",
    "msgget",
    "msgsnd",
    "msgrcv",
    "msgctl",
    "mq_open",
    "mq_unlink",
    // programs in the kernel, tracing, faults under foreign control
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "lookup_dcookie",
    // the machine
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "quotactl",
    "quotactl_fd",
    "acct",
    "iopl",
    "ioperm",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "sethostname",
    "setdomainname",
    "syslog",
    "vhangup",
    "nfsservctl",
    // files by handle, notification of whole file systems
    "fanotify_init",
    "name_to_handle_at",
    "open_by_handle_at",
    // other personalities, scheduling classes
    "personality",
    "sched_setscheduler",
    "sched_setattr",
    "sched_setparam",
    "ioprio_set",
    "migrate_pages",
};

constexpr const char* kUnknown[] = {"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"};

}  // namespace

Result<FilterProgram> CompileDenyList(bool pinned) {
  struct Context {
    scmp_filter_ctx handle = seccomp_init(SCMP_ACT_ALLOW);
    ~Context() { seccomp_release(handle); }
  } context;
  if (context.handle == nullptr) return Error(ErrorCode::kInternal, "seccomp_init failed");
  // Another architecture's numbers, x32 included, would go around the list.
  int bad = seccomp_attr_set(context.handle, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  bad |= seccomp_attr_set(context.handle, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  const auto refuse = [&](const char* name, int error) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) {  // a name that this libseccomp does not know would be a hole
      bad = -1;
      return;
    }
    if (number < 0) return;  // not on this architecture
    bad |= seccomp_rule_add(context.handle, SCMP_ACT_ERRNO(static_cast<uint32_t>(error)), number, 0);
  };
  for (const char* name : kRefused) refuse(name, EPERM);
  // ENOSYS: callers then use the older way. clone3 keeps its flags in memory, where no filter can see them.
  for (const char* name : kUnknown) refuse(name, ENOSYS);
  if (pinned) refuse("sched_setaffinity", EPERM);

  const auto refuse_when = [&](int number, int error, unsigned argument, uint64_t mask, scmp_compare op,
                               uint64_t value) {
    const scmp_arg_cmp compare =
        op == SCMP_CMP_MASKED_EQ ? scmp_arg_cmp{argument, op, mask, value} : scmp_arg_cmp{argument, op, value, 0};
    bad |= seccomp_rule_add_array(context.handle, SCMP_ACT_ERRNO(static_cast<uint32_t>(error)), number, 1, &compare);
  };
  for (const uint64_t flag :
       {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
    // CLONE_NEWTIME lies in the byte of the exit signal: it can only come through unshare and clone3.
    refuse_when(SCMP_SYS(clone), EPERM, 0, flag, SCMP_CMP_MASKED_EQ, flag);
  }
  // Network namespaces do not hold AF_VSOCK and some others; only AF_UNIX is needed.
  for (const int number : {SCMP_SYS(socket), SCMP_SYS(socketpair)}) {
    refuse_when(number, EAFNOSUPPORT, 0, 0, SCMP_CMP_NE, AF_UNIX);
  }
  // Typing into a terminal of ours. The kernel reads 32 bits of the request, so the others must not hide it.
  for (const uint64_t request : {uint64_t{TIOCSTI}, uint64_t{0x541C} /* TIOCLINUX */}) {
    refuse_when(SCMP_SYS(ioctl), EPERM, 1, 0xFFFFFFFF, SCMP_CMP_MASKED_EQ, request);
  }
  if (bad != 0) return Error(ErrorCode::kInternal, "building the system call filter failed");

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("pipe");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  if (seccomp_export_bpf(context.handle, write_end.get()) != 0) {
    return Error(ErrorCode::kInternal, "exporting the system call filter failed");
  }
  write_end.Reset();
  FilterProgram program;
  sock_filter instruction{};
  while (::read(read_end.get(), &instruction, sizeof(instruction)) == sizeof(instruction)) {
    program.push_back(instruction);
  }
  return program;
}

FilterProgram ExecOnceFilter(uint64_t secret_a, uint64_t secret_b) {
  constexpr auto kArgument = [](int index, bool high) {
    return static_cast<uint32_t>(offsetof(seccomp_data, args) + sizeof(uint64_t) * static_cast<size_t>(index) +
                                 (high ? 4 : 0));
  };
  const auto low = [](uint64_t value) { return static_cast<uint32_t>(value); };
  const auto high = [](uint64_t value) { return static_cast<uint32_t>(value >> 32); };
  return {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execveat, 9, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execve, 0, 9),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArgument(4, false)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low(secret_a), 0, 6),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArgument(4, true)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high(secret_a), 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArgument(5, false)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low(secret_b), 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArgument(5, true)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high(secret_b), 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
}

bool InstallFilter(std::span<const sock_filter> program) {
  const sock_fprog filter{static_cast<unsigned short>(program.size()), const_cast<sock_filter*>(program.data())};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

}  // namespace touchstone

#include "sandbox/runner/kill_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace touchstone {
namespace {

struct Sender {
  uint32_t number;
  uint32_t argument;  // which one is the signal
};
constexpr Sender kSenders[] = {{SYS_kill, 1},
                               {SYS_tkill, 1},
                               {SYS_tgkill, 2},
                               {SYS_rt_sigqueueinfo, 1},
                               {SYS_rt_tgsigqueueinfo, 2},
                               {SYS_pidfd_send_signal, 1}};

sock_filter Load(size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }
sock_filter Return(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
// Goes on with the next instruction where the loaded word is `value`, else after `skip` more.
sock_filter UnlessSkip(uint32_t value, uint8_t skip) { return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip); }

}  // namespace

bool RefuseSendingSigkill() {
  // Another architecture's numbers are the box's business.
  std::vector<sock_filter> program = {Load(offsetof(seccomp_data, arch)),
                                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
                                      Return(SECCOMP_RET_ALLOW), Load(offsetof(seccomp_data, nr))};
  for (const Sender& sender : kSenders) {
    program.push_back(UnlessSkip(sender.number, 4));
    program.push_back(Load(offsetof(seccomp_data, args) + 8 * sender.argument));  // the lower half: it is an int
    program.push_back(UnlessSkip(SIGKILL, 1));
    program.push_back(Return(SECCOMP_RET_KILL_PROCESS));
    program.push_back(Return(SECCOMP_RET_ALLOW));
  }
  program.push_back(Return(SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace touchstone

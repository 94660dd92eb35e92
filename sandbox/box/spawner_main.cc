// Theory of operation of the spawner.
//
// A client starts `touchstone-spawner` before it grows: forking a large process costs tens of milliseconds, forking
// this one less than one. The spawner has one thread (a box dies with the *thread* that made it: PR_SET_PDEATHSIG) and
// one poll loop over the connections of its clients, the processes it has made, and the process that started it.
//
//   client ── SEQPACKET ── spawner ──clone3──▶ init (pid 1 of the box) ──fork──▶ program
//     │                      │                  │ uid + 1, not dumpable            │ uid, filtered
//     │                      └─── control ──────┘                                  │
//     ├──────────── end pipe ───────────────────┘   what the program's end was     │
//     └──────────── freezer, cpu usage, pidfd, stdout, stderr, /tmp ───────────────┘
//
// Warm processes. Entering a v1 control group costs 10 ms (the kernel waits for all CPUs to pass a quiet state), making
// six namespaces 3 ms. Neither depends on the request, so the spawner keeps a few processes that have it behind them
// and wait on their control channel; a start takes one, sets its limits, and hands it the request. New ones are made
// when there is nothing else to do. A box that is to lack a layer for a test gets a process made for it.
//
// Starting. Init builds the file system (mounts.h), forks, and the child takes the last steps (target.h). A pipe that
// exec closes says whether the program runs or which step failed. Init then gives up its own rights, and only now tells
// the spawner, with the layers that are active. The spawner compares them with the policy's minimum once more, and
// hands the client the descriptors by which it commands the box without asking anybody: no round trip per freeze.
//
// Ending. Init writes the program's wait status and the number of processes that outlived it into the end pipe and
// exits; the kernel kills the rest of the pid namespace before init itself is gone. The spawner reaps it, reads what
// the groups counted, removes them, frees the uid, and only then reports the box as gone. The client's end of a box's
// own channel is the lease: when it closes, the box is killed. When the spawner dies, PDEATHSIG kills every init.
//
// Fail closed. A layer that the host lacks is never asked for; a layer that was asked for and fails ends the start with
// an error that names it; a level that is not reached is refused before anything runs.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "sandbox/box/server.h"
#include "sandbox/box/spawner.h"

namespace touchstone {

int SpawnerMain(int channel_fd, pid_t starter_pid) {
  UniqueFd channel(channel_fd);
  ::fcntl(channel.get(), F_SETFD, FD_CLOEXEC);
  UniqueFd starter(static_cast<int>(::syscall(SYS_pidfd_open, starter_pid, 0)));
  if (!starter.valid()) return 1;  // it is dead already
  ::signal(SIGPIPE, SIG_IGN);
  ::setsid();  // a terminal's Ctrl-C is for our clients
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  auto server = SpawnerServer::Create(std::move(channel), std::move(starter));
  if (!server.ok()) return 1;
  (*server)->Serve();
  return 0;
}

}  // namespace touchstone

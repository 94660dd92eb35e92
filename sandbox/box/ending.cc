#include "sandbox/box/ending.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "sandbox/box/file_util.h"
#include "sandbox/box/privileges.h"

namespace touchstone {
namespace {

constexpr int kMostRounds = 1000;

// All processes that have gone to their end so far; false when there is no child at all.
bool ReapEnded() {
  while (true) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid == 0) return true;
    if (pid < 0 && errno != EINTR) return false;
  }
}

}  // namespace

std::optional<int> AwaitProgram(pid_t program, bool heed_term) {
  sigset_t waited;
  sigemptyset(&waited);
  sigaddset(&waited, SIGCHLD);
  if (heed_term) sigaddset(&waited, SIGTERM);
  while (true) {
    while (true) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid == program) return status;
      if (pid == 0 || (pid < 0 && errno != EINTR)) break;
    }
    if (::sigwaitinfo(&waited, nullptr) == SIGTERM) return std::nullopt;
  }
}

int CountLeftovers(int list_fd) {
  if (list_fd < 0) return ReapEnded() ? 1 : 0;
  char text[4096];
  int lines = 0;
  off_t at = 0;
  while (true) {
    const ssize_t got = ::pread(list_fd, text, sizeof(text), at);
    if (got <= 0) return std::max(0, lines - 1);
    lines += static_cast<int>(std::count(text, text + got, '\n'));
    at += got;
  }
}

void KillTheRest(LayerSet layers, uid_t uid) {
  const std::string children = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  // kill(-1) never means the caller. From here on the box's processes may kill us too; they are dead an instant later.
  const bool own = layers.Has(Layer::kOwnUid) && SetUid(uid);
  for (int round = 0; round < kMostRounds && ReapEnded(); ++round) {
    if (own) {
      ::kill(-1, SIGKILL);
    } else {
      // We are the subreaper: whoever loses its parent becomes our child, so round by round all of them do.
      const std::string list = ReadKernelFile(children).value_or("");
      for (const char* at = list.c_str(); *at != '\0';) {
        char* end = nullptr;
        const long pid = std::strtol(at, &end, 10);
        if (end == at) break;
        ::kill(static_cast<pid_t>(pid), SIGKILL);
        at = *end == ' ' ? end + 1 : end;
      }
    }
    ::usleep(500);
  }
}

void KillUser(uid_t uid) {
  const pid_t killer = ::fork();
  if (killer == 0) {
    if (SetUid(uid)) ::kill(-1, SIGKILL);
    ::_exit(0);
  }
  if (killer > 0) ::waitpid(killer, nullptr, 0);
}

}  // namespace touchstone

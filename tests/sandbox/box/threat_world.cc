#include "tests/sandbox/box/threat_world.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/result.h"
#include "sandbox/box/privileges.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

constexpr int kSysvKey = 0x7453;
volatile char secret_in_memory[] = "secret";

std::string BinFolder() { return fs::read_symlink("/proc/self/exe").parent_path().string(); }

UniqueFd Listen(int family, const sockaddr* address, socklen_t size) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  TOUCHSTONE_CHECK(::bind(fd.get(), address, size) == 0 && ::listen(fd.get(), 8) == 0, "listening");
  return fd;
}

}  // namespace

ThreatWorld::ThreatWorld() {
  char pattern[] = "/tmp/touchstone-threats-XXXXXX";
  folder_ = ::mkdtemp(pattern);
  fs::permissions(folder_, fs::perms(0755));
  for (const char* name : {"hostile", "setuid"}) fs::copy_file(BinFolder() + "/hostile-box", folder_ + "/" + name);
  fs::permissions(folder_ + "/hostile", fs::perms(0755));
  fs::permissions(folder_ + "/setuid", fs::perms(04755));
  std::ofstream(folder_ + "/secret") << "secret\n";
  fs::create_directory(folder_ + "/open");
  fs::permissions(folder_ + "/open", fs::perms(01777));

  victim_ = ::fork();
  if (victim_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    SetCapabilities(0);
    ::prctl(PR_SET_DUMPABLE, 1);
    while (true) ::pause();
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%lx", reinterpret_cast<unsigned long>(&secret_in_memory[0]));
  address_ = text;

  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  tcp_ = Listen(AF_INET, reinterpret_cast<sockaddr*>(&any), sizeof(any));
  socklen_t size = sizeof(any);
  ::getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&any), &size);
  port_ = std::to_string(ntohs(any.sin_port));

  socket_ = "touchstone-threats-" + std::to_string(::getpid());
  sockaddr_un named{};
  named.sun_family = AF_UNIX;
  std::strncpy(named.sun_path + 1, socket_.c_str(), sizeof(named.sun_path) - 2);
  abstract_ = Listen(AF_UNIX, reinterpret_cast<sockaddr*>(&named),
                     static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + socket_.size()));
}

ThreatWorld::~ThreatWorld() {
  ::kill(victim_, SIGKILL);
  ::waitpid(victim_, nullptr, 0);
  Forget();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string ThreatWorld::Fill(std::string argument) const {
  const std::pair<const char*, std::string> names[] = {{"{folder}", folder_},   {"{victim}", std::to_string(victim_)},
                                                       {"{address}", address_}, {"{port}", port_},
                                                       {"{socket}", socket_},   {"{key}", std::to_string(kSysvKey)}};
  for (const auto& [name, value] : names) {
    for (size_t at = argument.find(name); at != std::string::npos; at = argument.find(name)) {
      argument.replace(at, std::strlen(name), value);
    }
  }
  return argument;
}

void ThreatWorld::Forget() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_ + "/open", ignored)) fs::remove_all(entry.path(), ignored);
  const int segment = ::shmget(kSysvKey, 0, 0);
  if (segment >= 0) ::shmctl(segment, IPC_RMID, nullptr);
}

}  // namespace touchstone

#ifndef TOUCHSTONE_TESTS_SANDBOX_BOX_THREAT_WORLD_H_
#define TOUCHSTONE_TESTS_SANDBOX_BOX_THREAT_WORLD_H_

#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"

namespace touchstone {

// What attacks in tests aim at, on the host: a folder with secrets, a process, two listening sockets. Arguments of
// attacks name them in braces: {folder}, {victim}, {address} (of the victim's secret), {port}, {socket}, {key}.
class ThreatWorld {
 public:
  ThreatWorld();
  ~ThreatWorld();
  ThreatWorld(const ThreatWorld&) = delete;
  ThreatWorld& operator=(const ThreatWorld&) = delete;

  // Readable by everybody:
  //   hostile   the attacking program          setuid    the same, set-user-id root
  //   secret    a file with a secret           open/     where everybody may write
  const std::string& folder() const { return folder_; }
  std::string Fill(std::string argument) const;
  void Forget() const;  // what attacks may have left on the host

 private:
  std::string folder_;
  pid_t victim_ = 0;  // root without capabilities, dumpable: open to every process of uid 0
  UniqueFd tcp_, abstract_;
  std::string port_, socket_, address_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_SANDBOX_BOX_THREAT_WORLD_H_

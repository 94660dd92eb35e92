#include "tests/hostile/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <map>
#include <set>

#include "base/unique_fd.h"

namespace touchstone {
namespace {

// The program's file name; of a zombie, which has none any more, what the kernel calls it.
std::string ProgramOf(const std::string& folder, const std::string& comm) {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink((folder + "/exe").c_str(), path.data(), path.size() - 1);
  if (length <= 0) return comm;
  const std::string target(path.data(), static_cast<size_t>(length));
  return target.substr(target.rfind('/') + 1);
}

// Empty when the process has gone meanwhile.
std::string ReadStat(const std::string& folder) {
  const UniqueFd file(::open((folder + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t length = file.valid() ? ::read(file.get(), text.data(), text.size()) : -1;
  return std::string(text.data(), length > 0 ? static_cast<size_t>(length) : 0);
}

Role RoleOf(const std::string& program, bool child_of_spawner) {
  if (program.starts_with("touchstone-spaw")) return child_of_spawner ? Role::kBoxInit : Role::kSpawner;
  if (program == "touchstone-judge") return Role::kJudge;
  if (program == "touchstone-runner-cpp") return Role::kCandidate;
  if (program == "touchstone-runner-torch") return Role::kReference;
  if (program.find("g++") != std::string::npos || program == "cc1plus" || program == "as" || program == "ld") {
    return Role::kCompiler;
  }
  return Role::kOther;
}

}  // namespace

void AdoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<FoundProcess> Descendants() {
  std::map<pid_t, FoundProcess> all;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return {};
  while (const dirent* entry = ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    const std::string folder = "/proc/" + std::to_string(pid);
    const std::string stat = ReadStat(folder);
    const size_t open = stat.find('(');
    const size_t close = stat.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close + 4 >= stat.size()) continue;
    FoundProcess found;
    found.pid = pid;
    found.zombie = stat[close + 2] == 'Z';
    found.parent = std::atoi(stat.c_str() + close + 4);
    found.name = ProgramOf(folder, stat.substr(open + 1, close - open - 1));
    all[pid] = found;
  }
  ::closedir(proc);

  std::vector<FoundProcess> mine;
  std::set<pid_t> known{::getpid()};
  for (bool grew = true; grew;) {
    grew = false;
    for (auto& [pid, found] : all) {
      if (known.contains(pid) || !known.contains(found.parent)) continue;
      const auto parent = all.find(found.parent);
      const bool below_spawner = parent != all.end() && parent->second.name.starts_with("touchstone-spaw");
      found.role = RoleOf(found.name, below_spawner);
      known.insert(pid);
      mine.push_back(found);
      grew = true;
    }
  }
  return mine;
}

void ReapOrphans() {
  for (const FoundProcess& found : Descendants()) {
    const bool left = found.parent == ::getpid() && found.zombie;
    if (left && !found.name.starts_with("touchstone-judg")) ::waitpid(found.pid, nullptr, WNOHANG);
  }
}

}  // namespace touchstone

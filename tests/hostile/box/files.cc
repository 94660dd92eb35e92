// Reading and writing what is not one's own.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "attack.h"

extern char** environ;

namespace {

// Creates a file at each of the paths.
int Write(int argc, char** argv) {
  Attempts attempts;
  for (int i = 0; i < argc; ++i) {
    const int fd = ::open(argv[i], O_WRONLY | O_CREAT, 0600);
    attempts.Add(argv[i], fd >= 0);
  }
  return attempts.Result();
}

// Opens each of the paths for reading.
int Read(int argc, char** argv) {
  Attempts attempts;
  for (int i = 0; i < argc; ++i) {
    char byte;
    const int fd = ::open(argv[i], O_RDONLY);
    attempts.Add(argv[i], fd >= 0 && ::read(fd, &byte, 1) == 1);
  }
  return attempts.Result();
}

// Opens a path for writing and leaves it at that.
int OpenForWriting(int, char** argv) { return Judge(argv[0], ::open(argv[0], O_WRONLY) >= 0); }

bool FindName(const std::string& folder, const char* name, int depth) {
  DIR* stream = depth > 0 ? ::opendir(folder.c_str()) : nullptr;
  if (stream == nullptr) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string entry_name = entry->d_name;
    if (entry_name == "." || entry_name == "..") continue;
    if (entry_name == name) found = true;
    if (entry->d_type == DT_DIR) found = FindName(folder + "/" + entry_name, name, depth - 1) || found;
  }
  ::closedir(stream);
  return found;
}

// FOLDER, NAME
int Find(int, char** argv) {
  errno = ENOENT;
  const bool found = FindName(argv[0], argv[1], 12);
  if (!found) errno = ENOENT;
  return Judge("finding a file by its name", found);
}

// Leaves a marker at each path / looks for one.
int LookForMarker(int argc, char** argv) {
  Attempts attempts;
  for (int i = 0; i < argc; ++i) attempts.Add(argv[i], ::access(argv[i], F_OK) == 0);
  return attempts.Result();
}

// Anything open beyond the standard three and COUNT more.
int InheritedFds(int, char** argv) {
  const int first = 3 + std::atoi(argv[0]);
  for (int fd = first; fd < 1024; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) continue;
    std::printf("descriptor %d\n", fd);
    return Judge("inherited descriptor", true);
  }
  return Judge("inherited descriptor", false);
}

// Anything in the environment but the names given.
int Environment(int argc, char** argv) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool known = false;
    for (int i = 0; i < argc; ++i) known = known || std::strcmp(*entry, argv[i]) == 0;
    if (known) continue;
    std::printf("%s\n", *entry);
    return Judge("inherited environment", true);
  }
  errno = ENOENT;
  return Judge("inherited environment", false);
}

int MakeDevice(int, char** argv) { return Judge("mknod", ::mknod(argv[0], S_IFBLK | 0600, 0x0800) == 0); }

// Truncates the memory file that was passed as descriptor 3.
int TruncatePassed(int, char**) { return Judge("ftruncate", ::ftruncate(3, 0) == 0); }

// PROGRAM: runs it; it must print what `whoami` prints.
int Execute(int, char** argv) {
  char* const arguments[] = {argv[0], const_cast<char*>("am-i-root"), nullptr};
  ::execve(argv[0], arguments, environ);
  return Judge("execve", false);
}

int AmIRoot(int, char**) {
  std::printf("uid %u, effective %u\n", ::getuid(), ::geteuid());
  errno = EPERM;
  return Judge("being root", ::geteuid() == 0);
}

}  // namespace

const Attack kFileAttacks[] = {{"write", Write},
                               {"read", Read},
                               {"open-for-writing", OpenForWriting},
                               {"find", Find},
                               {"look-for-marker", LookForMarker},
                               {"inherited-fds", InheritedFds},
                               {"environment", Environment},
                               {"make-device", MakeDevice},
                               {"truncate-passed", TruncatePassed},
                               {"execute", Execute},
                               {"am-i-root", AmIRoot},
                               {nullptr, nullptr}};

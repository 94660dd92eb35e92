#include "sandbox/box/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace touchstone {
namespace {

// <linux/landlock.h> of Linux 6.18.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr uint32_t kCreateVersion = 1;  // flag: return the version
constexpr int kRulePathBeneath = 1;

constexpr int kFirstFreeFd = 64;  // above every descriptor that a program is given

constexpr uint64_t kExecute = 1 << 0;
constexpr uint64_t kWriteFile = 1 << 1;
constexpr uint64_t kReadFile = 1 << 2;
constexpr uint64_t kReadFolder = 1 << 3;
constexpr uint64_t kTruncate = 1 << 14;
constexpr uint64_t kIoctlDevice = 1 << 15;
constexpr uint64_t kAllFiles = (1 << 15) - 1;  // up to version 3
constexpr uint64_t kAllTcp = 3;                // bind, connect
constexpr uint64_t kAllScopes = 3;             // abstract sockets, signals

struct RulesetAttributes {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

struct __attribute__((packed)) PathBeneath {
  uint64_t allowed_access;
  int32_t parent_fd;
};

}  // namespace

int LandlockVersion() {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kCreateVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

Result<LandlockRules> LandlockRules::Create() {
  const int version = LandlockVersion();
  RulesetAttributes attributes{};
  attributes.handled_access_fs = kAllFiles | (version >= 5 ? kIoctlDevice : 0);
  attributes.handled_access_net = version >= 4 ? kAllTcp : 0;
  attributes.scoped = version >= 6 ? kAllScopes : 0;
  const size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  LandlockRules rules;
  rules.handled_ = attributes.handled_access_fs;
  const UniqueFd made(static_cast<int>(::syscall(kCreateRuleset, &attributes, size, 0)));
  // It is needed until the program's own descriptors are in their places, so it must not lie in one of them.
  rules.ruleset_ = UniqueFd(made.valid() ? ::fcntl(made.get(), F_DUPFD_CLOEXEC, kFirstFreeFd) : -1);
  if (!rules.ruleset_.valid()) return ErrnoError(ErrorCode::kUnavailable, "layer landlock: creating a ruleset");
  return rules;
}

Status LandlockRules::Add(const std::string& path, uint64_t folder_rights, uint64_t file_rights) {
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) return ErrnoError(ErrorCode::kInvalidArgument, path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError(path);
  PathBeneath rule{};
  rule.allowed_access = (S_ISDIR(info.st_mode) ? folder_rights : file_rights) & handled_;
  rule.parent_fd = fd.get();
  if (::syscall(kAddRule, ruleset_.get(), kRulePathBeneath, &rule, 0) != 0) {
    return ErrnoError(ErrorCode::kUnavailable, "layer landlock: a rule for " + path);
  }
  return {};
}

Status LandlockRules::AllowReading(const std::string& path) {
  return Add(path, kExecute | kReadFile | kReadFolder, kExecute | kReadFile);
}

Status LandlockRules::AllowDevice(const std::string& path) {
  return Add(path, 0, kReadFile | kWriteFile | kTruncate | kIoctlDevice);
}

Status LandlockRules::AllowEverything(const std::string& path) { return Add(path, handled_, handled_); }

Status LandlockRules::Enforce() const {
  if (::syscall(kRestrictSelf, ruleset_.get(), 0) != 0) {
    return ErrnoError(ErrorCode::kUnavailable, "layer landlock: restricting the program");
  }
  return {};
}

}  // namespace touchstone

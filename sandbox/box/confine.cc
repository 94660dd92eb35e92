#include "sandbox/box/confine.h"

#include <sys/stat.h>
#include <unistd.h>

namespace touchstone {
namespace {

constexpr std::string_view kTmp = "/tmp";
constexpr const char* kDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

bool IsBelowTmp(std::string_view path) {
  return path.starts_with(kTmp) && (path.size() == kTmp.size() || path[kTmp.size()] == '/');
}

bool SameFile(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

void MoveTmp(const std::string& folder, Program& program) {
  if (IsBelowTmp(program.working_directory)) program.working_directory.replace(0, kTmp.size(), folder);
  for (std::string& entry : program.environment) {
    const size_t value = entry.find('=') + 1;
    if (value != 0 && IsBelowTmp(std::string_view(entry).substr(value))) entry.replace(value, kTmp.size(), folder);
  }
}

Status CheckBindsWithoutMounts(const Policy& policy) {
  for (const Bind& bind : policy.binds) {
    if (::access(bind.source.c_str(), F_OK) != 0) {
      if (bind.optional) continue;
      return ErrnoError(ErrorCode::kInvalidArgument, "bind " + bind.source);
    }
    if (bind.target.empty() || SameFile(bind.source, bind.target)) continue;
    return Error(ErrorCode::kUnavailable, "bind " + bind.source + " at " + bind.target + " needs mount_namespace");
  }
  return {};
}

Result<LandlockRules> RulesWithoutMounts(const Policy& policy, const std::string& folder) {
  TOUCHSTONE_ASSIGN(LandlockRules rules, LandlockRules::Create());
  for (const Bind& bind : policy.binds) {
    if (bind.optional && ::access(bind.source.c_str(), F_OK) != 0) continue;
    TOUCHSTONE_RETURN_IF_ERROR(rules.AllowReading(bind.source));
  }
  for (const char* device : kDevices) TOUCHSTONE_RETURN_IF_ERROR(rules.AllowDevice(device));
  TOUCHSTONE_RETURN_IF_ERROR(rules.AllowEverything(folder));
  return rules;
}

Result<LandlockRules> RulesWithMounts(const Policy& policy) {
  TOUCHSTONE_ASSIGN(LandlockRules rules, LandlockRules::Create());
  TOUCHSTONE_RETURN_IF_ERROR(rules.AllowReading("/"));
  for (const char* device : kDevices) TOUCHSTONE_RETURN_IF_ERROR(rules.AllowDevice(device));
  for (const char* folder : {"/tmp", "/dev/shm"}) TOUCHSTONE_RETURN_IF_ERROR(rules.AllowEverything(folder));
  if (policy.mount_proc) TOUCHSTONE_RETURN_IF_ERROR(rules.AllowEverything("/proc"));
  return rules;
}

}  // namespace touchstone

#include "reward/verdict/calibration.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/cpu_model.h"
#include "base/hash.h"
#include "base/unique_fd.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kSchema = 1;

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return std::nullopt;
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return std::nullopt;
  return text;
}

json ToJson(const Calibration& c) {
  return {{"host", c.key.host},
          {"device", c.key.device},
          {"interface", c.key.interface_name},
          {"between_start_sd", c.between_start_sd},
          {"evaluations", c.evaluations},
          {"date", c.date}};
}

// The name of the first field of `entry` that is not as it must be; empty: all are, and `c` is filled.
std::string FromJson(const json& entry, Calibration& c) {
  if (!entry.is_object() || entry.size() != 6) return "not an object of six fields";
  const std::array<std::pair<const char*, std::string*>, 4> texts = {
      {{"host", &c.key.host}, {"device", &c.key.device}, {"interface", &c.key.interface_name}, {"date", &c.date}}};
  for (const auto& [name, value] : texts) {
    const auto found = entry.find(name);
    if (found == entry.end() || !found->is_string()) return name;
    *value = found->get<std::string>();
  }
  const auto sd = entry.find("between_start_sd");
  if (sd == entry.end() || !sd->is_number()) return "between_start_sd";
  c.between_start_sd = sd->get<double>();
  if (!(c.between_start_sd >= 0 && c.between_start_sd < 1)) return "between_start_sd";
  const auto evaluations = entry.find("evaluations");
  if (evaluations == entry.end() || !evaluations->is_number_integer()) return "evaluations";
  const int64_t count = evaluations->get<int64_t>();
  if (count < 2 || count > 1'000'000) return "evaluations";
  c.evaluations = static_cast<int>(count);
  return "";
}

Result<std::vector<Calibration>> Parse(const std::string& text, const std::string& path) {
  const auto corrupt = [&](const std::string& what) {
    return Error(ErrorCode::kCorrupt, path + ": " + what + "; remove the file and run 'touchstone calibrate' again");
  };
  const json file = json::parse(text, nullptr, false);
  if (!file.is_object()) return corrupt("is not JSON");
  if (!file.contains("schema") || file["schema"] != kSchema) return corrupt("schema: is not 1");
  if (!file.contains("calibrations") || !file["calibrations"].is_array()) return corrupt("calibrations: is no list");
  std::vector<Calibration> calibrations;
  for (const json& entry : file["calibrations"]) {
    Calibration calibration;
    if (const std::string bad = FromJson(entry, calibration); !bad.empty()) {
      return corrupt("calibrations[" + std::to_string(calibrations.size()) + "]: " + bad);
    }
    calibrations.push_back(std::move(calibration));
  }
  return calibrations;
}

Status WriteAll(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError("write");
    done += static_cast<size_t>(n);
  }
  return {};
}

// The new contents stand beside the file, on the disk, before they take its place.
Status ReplaceFile(const std::string& path, const std::string& text) {
  std::string fresh = path + ".XXXXXX";
  UniqueFd fd(::mkostemp(fresh.data(), O_CLOEXEC));
  if (fd.get() < 0) return ErrnoError("creating " + fresh);
  Status status = WriteAll(fd.get(), text);
  if (status.ok() && ::fsync(fd.get()) != 0) status = ErrnoError("fsync");
  if (status.ok() && ::rename(fresh.c_str(), path.c_str()) != 0) status = ErrnoError("rename to " + path);
  if (!status.ok()) {
    ::unlink(fresh.c_str());
    return status.error().Within("writing " + fresh);
  }
  const UniqueFd folder(::open(fs::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || ::fsync(folder.get()) != 0) return ErrnoError("fsync of the folder of " + path);
  return {};
}

}  // namespace

CalibrationStore::CalibrationStore(std::string path)
    : path_(fs::absolute(path.empty() ? DefaultCalibrationFile() : std::move(path)).string()) {}

Result<std::vector<Calibration>> CalibrationStore::Load() const {
  std::error_code error;
  if (!fs::exists(path_, error) && !error) return std::vector<Calibration>{};
  const std::optional<std::string> text = ReadFile(path_);
  if (!text.has_value()) return Error(ErrorCode::kUnavailable, path_ + ": cannot be read");
  return Parse(*text, path_);
}

Result<std::optional<Calibration>> CalibrationStore::Find(const CalibrationKey& key) const {
  TOUCHSTONE_ASSIGN(const std::vector<Calibration> all, Load());
  for (const Calibration& calibration : all) {
    if (calibration.key == key) return std::optional<Calibration>(calibration);
  }
  return std::optional<Calibration>();
}

Status CalibrationStore::Put(const Calibration& calibration) const {
  Calibration checked;
  if (const std::string bad = FromJson(ToJson(calibration), checked); !bad.empty()) {
    return Error(ErrorCode::kInvalidArgument, "calibration: " + bad);
  }
  std::error_code error;
  fs::create_directories(fs::path(path_).parent_path(), error);
  const std::string lock_path = path_ + ".lock";
  const UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.get() < 0) return ErrnoError(ErrorCode::kUnavailable, lock_path);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return ErrnoError(lock_path);
  }
  TOUCHSTONE_ASSIGN(std::vector<Calibration> all, Load());
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const Calibration& c) { return c.key == calibration.key; });
  if (same != all.end()) {
    *same = calibration;
  } else {
    all.push_back(calibration);
  }
  json file = {{"schema", kSchema}, {"calibrations", json::array()}};
  for (const Calibration& c : all) file["calibrations"].push_back(ToJson(c));
  return ReplaceFile(path_, file.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

std::string DefaultCalibrationFile() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/touchstone/calibration.json";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    const passwd* user = ::getpwuid(::geteuid());
    home = user != nullptr ? user->pw_dir : "/";
  }
  return std::string(home) + "/.local/state/touchstone/calibration.json";
}

std::string HostId() {
  std::string name = ReadFile("/etc/machine-id").value_or("");
  if (name.size() < 32) {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) name = host.data();
  }
  return HashHex("touchstone host " + name).substr(0, 16);
}

std::string CpuDeviceName(int cores) {
  const std::string model = CpuModel().value_or("unknown processor");
  if (cores <= 0) cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return model + ", " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
}

}  // namespace touchstone

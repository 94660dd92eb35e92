#include "env/cli/slot.h"

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/memfd.h"
#include "base/unique_fd.h"
#include "env/cli/table.h"
#include "sandbox/box/layers.h"

namespace touchstone::cli {
namespace {

constexpr size_t kMaxSourceBytes = size_t{1} << 20;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

void AddSlotOptions(CLI::App& command, SlotOptions& options) {
  command.add_option("--level", options.level, "Isolation that the host must give")
      ->check(CLI::IsMember({"full", "reduced", "none"}))
      ->capture_default_str();
  command
      .add_option("--cpus", options.cpus, "Cores of the slot, for example 2,3: the first is the judge's (default: all)")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber);
  command.add_option("--cache", options.cache_folder,
                     "Folder of built artifacts (default: " + DefaultCacheFolder() + ")");
  command.add_option("--calibration", options.calibration_file,
                     "File of touchstone calibrate (default: " + DefaultCalibrationFile() + ")");
}

std::string DefaultCacheFolder() {
  if (auto own = Environment("TOUCHSTONE_CACHE"); !own.empty()) return own;
  if (auto xdg = Environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/touchstone";
  if (auto home = Environment("HOME"); !home.empty()) return home + "/.cache/touchstone";
  return "/tmp/touchstone-cache-" + std::to_string(::getuid());
}

CalibrationKey SlotCalibrationKey(const SlotOptions& options) {
  return {HostId(), CpuDeviceName(static_cast<int>(options.cpus.size())), "cpp"};
}

Result<std::unique_ptr<Evaluator>> MakeEvaluator(const SlotOptions& options) {
  const auto level = LevelFromString(options.level);
  if (!level) return Error(ErrorCode::kInvalidArgument, "no level '" + options.level + "'");
  EvaluatorOptions evaluator;
  evaluator.minimum_level = *level;
  evaluator.build.minimum_level = *level;
  evaluator.build.cache_folder = options.cache_folder.empty() ? DefaultCacheFolder() : options.cache_folder;
  evaluator.cpus = options.cpus;
  if (options.calibrated) {
    TOUCHSTONE_ASSIGN(const auto calibration,
                      CalibrationStore(options.calibration_file).Find(SlotCalibrationKey(options)));
    if (calibration) evaluator.between_start_sd = calibration->between_start_sd;
  }
  return Evaluator::Create(std::move(evaluator));
}

Result<std::string> ReadSource(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return ErrnoError(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument, "opening " + path);
  }
  auto text = ReadAll(file.get(), kMaxSourceBytes);
  if (!text.ok()) return Error(ErrorCode::kInvalidArgument, text.error().Within(path).message());
  // Records are JSON, and a record must hold the source to the byte.
  if (!IsUtf8(*text)) return Error(ErrorCode::kInvalidArgument, path + " is not UTF-8");
  return text;
}

}  // namespace touchstone::cli

// What every command that evaluates has in common: the options of the slot and how the evaluator is made of them.
#ifndef TOUCHSTONE_ENV_CLI_SLOT_H_
#define TOUCHSTONE_ENV_CLI_SLOT_H_

#include <CLI/App.hpp>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "reward/reward.h"
#include "reward/verdict/calibration.h"

namespace touchstone::cli {

struct SlotOptions {
  std::string level = "full";
  std::vector<int> cpus;         // empty: all
  std::string cache_folder;      // empty: DefaultCacheFolder()
  std::string calibration_file;  // empty: DefaultCalibrationFile()
  bool calibrated = true;        // false: what is stored about this host is left aside
};

// Adds --level, --cpus, --cache and --calibration to a command; they are written to `options`, which must outlive the
// parsing.
void AddSlotOptions(CLI::App& command, SlotOptions& options);

// $TOUCHSTONE_CACHE, else $XDG_CACHE_HOME/touchstone, else ~/.cache/touchstone, else a folder under /tmp.
std::string DefaultCacheFolder();

// What a calibration of such a slot is stored under.
CalibrationKey SlotCalibrationKey(const SlotOptions& options);

// Starts the slot's processes. Blocks for some tens of milliseconds.
Result<std::unique_ptr<Evaluator>> MakeEvaluator(const SlotOptions& options);

// The text of a source file: UTF-8, at most 1 MiB. kNotFound, kInvalidArgument (names the file).
Result<std::string> ReadSource(const std::string& path);

}  // namespace touchstone::cli

#endif  // TOUCHSTONE_ENV_CLI_SLOT_H_

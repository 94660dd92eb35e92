// What `touchstone calibrate` found out about this host, kept between runs.
#ifndef TOUCHSTONE_REWARD_VERDICT_CALIBRATION_H_
#define TOUCHSTONE_REWARD_VERDICT_CALIBRATION_H_

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace touchstone {

// What a calibration is good for. A host with another processor, or with fewer cores for a slot, is another one.
struct CalibrationKey {
  std::string host;    // see HostId
  std::string device;  // see CpuDeviceName
  std::string interface_name;

  bool operator==(const CalibrationKey&) const = default;
};

struct Calibration {
  CalibrationKey key;
  double between_start_sd = 0;  // of log(speedup): BetweenStartSd over evaluations of one source against itself
  int evaluations = 0;
  std::string date;  // UTC, ISO 8601
};

// One JSON file with a list of calibrations, at most one for each key. Values, not a connection: other processes may
// write the same file, Put does not lose what they wrote.
class CalibrationStore {
 public:
  // `path` empty: DefaultCalibrationFile().
  explicit CalibrationStore(std::string path = "");

  const std::string& path() const { return path_; }
  // All of them; none where there is no file yet. A file that cannot be understood is kCorrupt and says where: it has
  // to be looked at or removed, it is never silently replaced.
  Result<std::vector<Calibration>> Load() const;
  Result<std::optional<Calibration>> Find(const CalibrationKey& key) const;
  // Replaces the calibration of the same key, atomically: a reader sees the old file or the new one, also after a
  // crash.
  Status Put(const Calibration& calibration) const;

 private:
  std::string path_;
};

// $XDG_STATE_HOME/touchstone/calibration.json, else ~/.local/state/touchstone/calibration.json.
std::string DefaultCalibrationFile();

// Names this installation without telling its name: a hash of the machine's id, else of its host name.
std::string HostId();
// "Intel(R) Xeon(R) Processor, 4 cores". `cores` are those of the slot; 0: all that are online.
std::string CpuDeviceName(int cores);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_VERDICT_CALIBRATION_H_

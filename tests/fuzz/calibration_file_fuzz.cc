// A calibration file that was damaged is an error that says where, never a number that widens or narrows an interval.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "reward/verdict/calibration.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = ::memfd_create("calibration", MFD_CLOEXEC);
  static const CalibrationStore store("/proc/self/fd/" + std::to_string(file));
  FUZZ_EXPECT(::ftruncate(file, 0) == 0);
  FUZZ_EXPECT(::pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  const auto found = store.Load();
  if (!found.ok()) {
    FUZZ_EXPECT(found.error().code() == ErrorCode::kCorrupt && !found.error().message().empty());
    return 0;
  }
  for (const Calibration& calibration : *found) {
    FUZZ_EXPECT(std::isfinite(calibration.between_start_sd) && calibration.between_start_sd >= 0);
    const auto same = store.Find(calibration.key);
    FUZZ_EXPECT(same.ok() && same->has_value() && (*same)->key == calibration.key);
  }
  return 0;
}

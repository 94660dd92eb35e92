// Rollouts for the benches of the store: what a small step comes to, with ids as random as real ones.
#ifndef TOUCHSTONE_TESTS_BENCH_ROLLOUTS_H_
#define TOUCHSTONE_TESTS_BENCH_ROLLOUTS_H_

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/hash.h"
#include "rollout/rollout.h"

namespace touchstone {

inline RolloutRecord BenchRollout(uint64_t number, const std::string& task, double score) {
  const std::string text = std::to_string(number);
  RolloutRecord record;
  record.id = HashHex(text).substr(0, 32);
  record.request = {"client-" + std::to_string(number % 8), "request-" + text};
  record.time = UnixMicros(1'700'000'000'000'000 + static_cast<int64_t>(number));
  record.task = task;
  record.group_id = "group-" + std::to_string(number / 16);
  record.policy_version = "step-" + std::to_string(number / 1024);
  record.source = "extern \"C\" void run(const float* x, float* y, int64_t n) { /* " + text + " */ }";
  record.reward_preset = "speedup_lcb";
  record.reward = score;
  record.result.id = record.id;
  record.result.status = EvalStatus::kSuccess;
  record.result.task = task;
  record.result.rewarded_speedup = score;
  return record;
}

// A new folder on a disk (never in memory, where a sync costs nothing), gone at the end.
class BenchFolder {
 public:
  explicit BenchFolder(const std::string& parent) {
    std::string pattern = parent + "/touchstone-bench-XXXXXX";
    TOUCHSTONE_CHECK(::mkdtemp(pattern.data()) != nullptr, pattern);
    path_ = pattern;
  }
  ~BenchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline constexpr char kBenchDisk[] = "/var/tmp";

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_BENCH_ROLLOUTS_H_

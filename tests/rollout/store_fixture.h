#ifndef TOUCHSTONE_TESTS_ROLLOUT_STORE_FIXTURE_H_
#define TOUCHSTONE_TESTS_ROLLOUT_STORE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "rollout/rollout.h"

namespace touchstone {

// A folder that goes with the test.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "touchstone-rollout-XXXXXX").string();
    TOUCHSTONE_CHECK(::mkdtemp(pattern.data()) != nullptr, pattern);
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline StoreOptions OptionsFor(const std::string& folder, bool read_only = false) {
  StoreOptions options;
  options.folder = folder;
  options.read_only = read_only;
  return options;
}

inline std::unique_ptr<RolloutStore> OpenStore(const std::string& folder, bool read_only = false) {
  auto store = RolloutStore::Open(OptionsFor(folder, read_only));
  TOUCHSTONE_CHECK(store.ok(), store.error().ToString());
  return std::move(store).value();
}

// A success of `task` with this score; every number gives another source.
inline RolloutRecord MakeRollout(int number, const std::string& task = "add", double score = 1.5) {
  const std::string text = std::to_string(number);
  RolloutRecord record;
  record.id = "r" + text;
  record.request = {"client", "q" + text};
  record.time = UnixMicros(1'700'000'000'000'000 + number);
  record.task = task;
  record.source = "void run() { /* " + text + " */ }";
  record.reward_preset = "speedup";
  record.reward = score;
  record.result.id = record.id;
  record.result.status = EvalStatus::kSuccess;
  record.result.task = task;
  record.result.rewarded_speedup = score;
  return record;
}

// Calls `write(done)` and waits for what done is told.
template <typename Write>
Result<uint64_t> Await(Write write) {
  std::promise<Result<uint64_t>> promise;
  std::future<Result<uint64_t>> future = promise.get_future();
  write([&](Result<uint64_t> result) { promise.set_value(std::move(result)); });
  return future.get();
}

// EXPECT_THAT(result, Fails(ErrorCode::kNotFound, "no rollout"))
MATCHER_P2(Fails, code, text, "fails with a message that holds '" + std::string(text) + "'") {
  if (arg.ok()) {
    *result_listener << "which is ok";
    return false;
  }
  *result_listener << "which is " << arg.error().ToString();
  return arg.error().code() == code && arg.error().message().find(text) != std::string::npos;
}

MATCHER(Succeeds, "is ok") {
  if (!arg.ok()) *result_listener << "which is " << arg.error().ToString();
  return arg.ok();
}

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_ROLLOUT_STORE_FIXTURE_H_

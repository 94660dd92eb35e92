#ifndef TOUCHSTONE_REWARD_JUDGE_CPU_WORKERS_H_
#define TOUCHSTONE_REWARD_JUDGE_CPU_WORKERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace touchstone {

// Threads that help the judge while nothing is timed: filling and comparing use all cores of the slot, because both
// sides are frozen then. The functions are called by one thread.
class Workers {
 public:
  // One helper for each core but the first, which is the caller's.
  explicit Workers(const std::vector<int>& cpus);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls `task(i)` once for every i below `count`, and returns when all calls have returned. Wakes no more helpers
  // than there is work for besides the caller's.
  void ForEach(size_t count, const std::function<void(size_t)>& task);

  // Returns once the kernel says of every helper that was woken that it sleeps. It does so until the next ForEach.
  void AwaitSleep();

 private:
  // Sleeps on its bell. Everything else it reads was written before the bell was rung, and is left alone until it has
  // taken itself off `pending_`.
  struct Helper {
    std::atomic<uint32_t> bell{0};
    UniqueFd state;  // what the kernel says of its thread
    std::thread thread;
  };

  void Loop(Helper& helper, int cpu);
  // Takes the next index until none is left.
  void Work();

  std::vector<std::unique_ptr<Helper>> helpers_;
  const std::function<void(size_t)>* task_ = nullptr;
  size_t count_ = 0;
  bool stopping_ = false;
  size_t woken_ = 0;  // the first so many helpers may not be asleep yet
  std::atomic<size_t> next_{0};
  std::atomic<uint32_t> pending_{0};  // helpers that are not through with the batch
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_CPU_WORKERS_H_

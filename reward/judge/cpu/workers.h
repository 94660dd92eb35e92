#ifndef TOUCHSTONE_REWARD_JUDGE_CPU_WORKERS_H_
#define TOUCHSTONE_REWARD_JUDGE_CPU_WORKERS_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace touchstone {

// Threads that help the judge while nothing is timed: filling and comparing use all cores of the slot, because both
// sides are frozen then. They sleep otherwise. The functions are called by one thread.
class Workers {
 public:
  // One helper for each core but the first, which is the caller's.
  explicit Workers(const std::vector<int>& cpus);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls `task(i)` once for every i below `count`, on all threads, and returns when all calls have returned.
  void ForEach(size_t count, const std::function<void(size_t)>& task);

 private:
  void Loop(int cpu);
  // Takes the next index of the current batch until none is left.
  void Work(const std::function<void(size_t)>& task, size_t count);

  Mutex mutex_;
  CondVar changed_;
  uint64_t batch_ TOUCHSTONE_GUARDED_BY(mutex_) = 0;
  size_t count_ TOUCHSTONE_GUARDED_BY(mutex_) = 0;
  const std::function<void(size_t)>* task_ TOUCHSTONE_GUARDED_BY(mutex_) = nullptr;
  size_t busy_ TOUCHSTONE_GUARDED_BY(mutex_) = 0;
  bool stopping_ TOUCHSTONE_GUARDED_BY(mutex_) = false;
  std::atomic<size_t> next_{0};
  std::vector<std::thread> threads_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_CPU_WORKERS_H_

// A mutex that clang's thread-safety analysis understands. Fields that it protects carry TOUCHSTONE_GUARDED_BY(mutex_).
#ifndef TOUCHSTONE_BASE_MUTEX_H_
#define TOUCHSTONE_BASE_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define TOUCHSTONE_ATTRIBUTE(x) __attribute__((x))
#else
#define TOUCHSTONE_ATTRIBUTE(x)
#endif
#define TOUCHSTONE_GUARDED_BY(x) TOUCHSTONE_ATTRIBUTE(guarded_by(x))
#define TOUCHSTONE_REQUIRES(...) TOUCHSTONE_ATTRIBUTE(requires_capability(__VA_ARGS__))

namespace touchstone {

class TOUCHSTONE_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() TOUCHSTONE_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() TOUCHSTONE_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class TOUCHSTONE_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TOUCHSTONE_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() TOUCHSTONE_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Wait() gives the mutex up while it sleeps and holds it again when it returns.
class CondVar {
 public:
  void Wait(Mutex& mutex) TOUCHSTONE_REQUIRES(mutex) { condition_.wait(mutex); }
  // False when `until` came first.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point until) TOUCHSTONE_REQUIRES(mutex) {
    return condition_.wait_until(mutex, until) == std::cv_status::no_timeout;
  }
  void NotifyAll() { condition_.notify_all(); }
  void NotifyOne() { condition_.notify_one(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_MUTEX_H_

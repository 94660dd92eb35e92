#ifndef TOUCHSTONE_ENV_SERVE_DISK_THREAD_H_
#define TOUCHSTONE_ENV_SERVE_DISK_THREAD_H_

#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace touchstone {

// One thread for what reads from the disk, so that no loop waits for it: one piece of work after the other.
class DiskThread {
 public:
  DiskThread();
  ~DiskThread();  // does what was posted first
  DiskThread(const DiskThread&) = delete;
  DiskThread& operator=(const DiskThread&) = delete;

  void Post(std::function<void()> work);

 private:
  void Run();

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> work_ TOUCHSTONE_GUARDED_BY(mutex_);
  bool ending_ TOUCHSTONE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_DISK_THREAD_H_

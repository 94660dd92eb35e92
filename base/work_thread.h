#ifndef TOUCHSTONE_BASE_WORK_THREAD_H_
#define TOUCHSTONE_BASE_WORK_THREAD_H_

#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace touchstone {

// One thread for what would make its callers wait, such as reading from a disk: one piece of work after the other.
class WorkThread {
 public:
  WorkThread();
  ~WorkThread();  // does what was posted first
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

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

#endif  // TOUCHSTONE_BASE_WORK_THREAD_H_

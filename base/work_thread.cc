#include "base/work_thread.h"

#include <utility>

namespace touchstone {

WorkThread::WorkThread() : thread_([this] { Run(); }) {}

WorkThread::~WorkThread() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyOne();
  thread_.join();
}

void WorkThread::Post(std::function<void()> work) {
  {
    const MutexLock lock(mutex_);
    work_.push_back(std::move(work));
  }
  changed_.NotifyOne();
}

void WorkThread::Run() {
  while (true) {
    std::function<void()> work;
    {
      const MutexLock lock(mutex_);
      while (work_.empty() && !ending_) changed_.Wait(mutex_);
      if (work_.empty()) return;
      work = std::move(work_.front());
      work_.pop_front();
    }
    work();
  }
}

}  // namespace touchstone

#include "env/serve/disk_thread.h"

#include <utility>

namespace touchstone {

DiskThread::DiskThread() : thread_([this] { Run(); }) {}

DiskThread::~DiskThread() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyOne();
  thread_.join();
}

void DiskThread::Post(std::function<void()> work) {
  {
    MutexLock lock(mutex_);
    work_.push_back(std::move(work));
  }
  changed_.NotifyOne();
}

void DiskThread::Run() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(mutex_);
      while (work_.empty() && !ending_) changed_.Wait(mutex_);
      if (work_.empty()) return;
      work = std::move(work_.front());
      work_.pop_front();
    }
    work();
  }
}

}  // namespace touchstone

#include "env/episode/background.h"

#include <utility>

namespace touchstone {

Background::Background() : thread_([this] { Run(); }) {}

Background::~Background() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyOne();
  thread_.join();
}

void Background::Post(std::function<void()> work) {
  {
    const MutexLock lock(mutex_);
    work_.push_back(std::move(work));
  }
  changed_.NotifyOne();
}

void Background::Run() {
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

#include "env/serve/outbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "base/result.h"

namespace touchstone {

Outbox::Outbox() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { TOUCHSTONE_CHECK(event_.valid(), "no eventfd"); }

void Outbox::Post(std::function<void()> work) {
  bool was_empty = false;
  {
    MutexLock lock(mutex_);
    was_empty = posted_.empty();
    posted_.push_back(std::move(work));
  }
  if (!was_empty) return;
  const uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof(one));
}

void Outbox::Run() {
  uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof(count));
  {
    MutexLock lock(mutex_);
    running_.swap(posted_);
  }
  for (auto& work : running_) work();
  running_.clear();
}

}  // namespace touchstone

#include "reward/judge/cpu/workers.h"

#include <sched.h>

namespace touchstone {

Workers::Workers(const std::vector<int>& cpus) {
  for (size_t i = 1; i < cpus.size(); ++i) threads_.emplace_back([this, cpu = cpus[i]] { Loop(cpu); });
}

Workers::~Workers() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::Work(const std::function<void(size_t)>& task, size_t count) {
  for (size_t i = next_++; i < count; i = next_++) task(i);
}

void Workers::ForEach(size_t count, const std::function<void(size_t)>& task) {
  next_ = 0;
  if (count > 1 && !threads_.empty()) {
    {
      MutexLock lock(mutex_);
      task_ = &task;
      count_ = count;
      busy_ = threads_.size();
      ++batch_;
    }
    changed_.NotifyAll();
    Work(task, count);
    MutexLock lock(mutex_);
    while (busy_ > 0) changed_.Wait(mutex_);
    task_ = nullptr;
    return;
  }
  Work(task, count);
}

void Workers::Loop(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof(set), &set);
  uint64_t seen = 0;
  while (true) {
    const std::function<void(size_t)>* task = nullptr;
    size_t count = 0;
    {
      MutexLock lock(mutex_);
      while (batch_ == seen && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      seen = batch_;
      task = task_;
      count = count_;
    }
    Work(*task, count);
    {
      MutexLock lock(mutex_);
      --busy_;
    }
    changed_.NotifyAll();
  }
}

}  // namespace touchstone

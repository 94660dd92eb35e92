#include "reward/judge/cpu/workers.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace touchstone {
namespace {

constexpr int kPollsBeforeYield = 200;
// The last pieces of a batch end at nearly the same time: worth this many looks before the caller sleeps.
constexpr int kLooksBeforeSleep = 4000;

// Whether the thread behind a /proc/…/stat sleeps: "tid (name) S …".
bool Sleeps(int state) {
  char text[256];
  const ssize_t got = ::pread(state, text, sizeof(text), 0);
  const std::string_view line(text, got > 0 ? static_cast<size_t>(got) : 0);
  const size_t name_end = line.rfind(')');
  return name_end != std::string_view::npos && line.substr(name_end + 1, 2) == " S";
}

}  // namespace

Workers::Workers(const std::vector<int>& cpus) {
  const size_t wanted = cpus.empty() ? 0 : cpus.size() - 1;
  pending_ = static_cast<uint32_t>(wanted);
  for (size_t i = 0; i < wanted; ++i) {
    helpers_.push_back(std::make_unique<Helper>());
    Helper& helper = *helpers_.back();
    helper.thread = std::thread([this, &helper, cpu = cpus[i + 1]] { Loop(helper, cpu); });
  }
  for (uint32_t left = pending_; left > 0; left = pending_) pending_.wait(left);
  // Whose sleep cannot be seen must not be woken.
  std::erase_if(helpers_, [](const auto& helper) {
    if (helper->state.valid()) return false;
    helper->thread.join();
    return true;
  });
  woken_ = helpers_.size();
}

Workers::~Workers() {
  stopping_ = true;
  for (const auto& helper : helpers_) {
    ++helper->bell;
    helper->bell.notify_one();
    helper->thread.join();
  }
}

void Workers::Work() {
  for (size_t i = next_++; i < count_; i = next_++) (*task_)(i);
}

void Workers::ForEach(size_t count, const std::function<void(size_t)>& task) {
  task_ = &task;
  count_ = count;
  next_ = 0;
  const size_t helping = count == 0 ? 0 : std::min(helpers_.size(), count - 1);
  pending_ = static_cast<uint32_t>(helping);
  for (size_t i = 0; i < helping; ++i) {
    ++helpers_[i]->bell;
    helpers_[i]->bell.notify_one();
  }
  woken_ = std::max(woken_, helping);
  Work();
  for (int look = 0; pending_ > 0 && look < kLooksBeforeSleep; ++look) __builtin_ia32_pause();
  for (uint32_t left = pending_; left > 0; left = pending_) pending_.wait(left);
}

void Workers::AwaitSleep() {
  for (size_t i = 0; i < woken_; ++i) {
    for (int polls = 1; !Sleeps(helpers_[i]->state.get()); ++polls) {
      if (polls % kPollsBeforeYield == 0) ::sched_yield();
    }
  }
  woken_ = 0;
}

void Workers::Loop(Helper& helper, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof(set), &set);
  helper.state = UniqueFd(::open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC));
  const bool useful = helper.state.valid();
  --pending_;
  pending_.notify_one();
  for (uint32_t seen = 0; useful; ++seen) {
    helper.bell.wait(seen);
    if (stopping_) return;
    Work();
    if (--pending_ == 0) pending_.notify_one();
  }
}

}  // namespace touchstone

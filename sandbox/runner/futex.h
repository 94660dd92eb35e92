#ifndef TOUCHSTONE_SANDBOX_RUNNER_FUTEX_H_
#define TOUCHSTONE_SANDBOX_RUNNER_FUTEX_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>

namespace touchstone {

// Sleeps while `word` is `seen`, at most `timeout`. Wakes early without reason, too. Works on shared pages, read-only
// mappings included.
inline void FutexWait(const std::atomic<uint32_t>& word, uint32_t seen, std::chrono::microseconds timeout) {
  const timespec ts{static_cast<time_t>(timeout.count() / 1'000'000),
                    static_cast<long>(timeout.count() % 1'000'000 * 1000)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &ts, nullptr, 0);
}

inline void FutexWake(const std::atomic<uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

inline void SpinPause() { __builtin_ia32_pause(); }

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_RUNNER_FUTEX_H_

#ifndef TOUCHSTONE_BASE_CLOCK_H_
#define TOUCHSTONE_BASE_CLOCK_H_

#include <chrono>
#include <ctime>

namespace touchstone {

// The measuring clock: CLOCK_MONOTONIC_RAW, which no time daemon bends.
struct RawClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<RawClock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept {
    timespec ts{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return time_point(std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec));
  }
};

inline double ToMicroseconds(RawClock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_CLOCK_H_

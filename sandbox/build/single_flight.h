#ifndef TOUCHSTONE_SANDBOX_BUILD_SINGLE_FLIGHT_H_
#define TOUCHSTONE_SANDBOX_BUILD_SINGLE_FLIGHT_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"

namespace touchstone {

// Callers that want the same thing at the same time share one computation of it. Nothing is remembered beyond that.
// Thread-safe. T must be readable by several threads at once.
template <typename T>
class SingleFlight {
 public:
  struct Landing {
    std::shared_ptr<const T> value;
    bool leader = false;  // this caller has computed it
  };

  // Runs `compute` (a T()) unless a call for `key` is under way; then blocks until that one has ended. `compute` must
  // not throw and must not ask for the same key again.
  template <typename Compute>
  Landing Run(const std::string& key, const Compute& compute) {
    std::shared_ptr<Flight> flight;
    {
      const MutexLock lock(mutex_);
      std::shared_ptr<Flight>& slot = flights_[key];
      if (slot != nullptr) {
        flight = slot;
        ++flight->followers;
        while (flight->value == nullptr) landed_.Wait(mutex_);
        return {flight->value, false};
      }
      slot = flight = std::make_shared<Flight>();
    }
    auto value = std::make_shared<const T>(compute());
    const MutexLock lock(mutex_);
    flight->value = value;
    flights_.erase(key);
    landed_.NotifyAll();
    return {std::move(value), true};
  }

  // Callers that wait for another one's computation of `key`.
  int Followers(const std::string& key) {
    const MutexLock lock(mutex_);
    const auto found = flights_.find(key);
    return found == flights_.end() ? 0 : found->second->followers;
  }

 private:
  struct Flight {
    std::shared_ptr<const T> value;
    int followers = 0;
  };
  Mutex mutex_;
  CondVar landed_;
  std::map<std::string, std::shared_ptr<Flight>> flights_ TOUCHSTONE_GUARDED_BY(mutex_);
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BUILD_SINGLE_FLIGHT_H_

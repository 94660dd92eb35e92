#ifndef TOUCHSTONE_ENV_EPISODE_ACTIVITY_H_
#define TOUCHSTONE_ENV_EPISODE_ACTIVITY_H_

#include <cstddef>
#include <memory>

#include "base/mutex.h"

namespace touchstone {

// Counts what is in flight, so that its owner can wait for the end of all of it. Thread-safe.
class Activity {
 public:
  // Something is in flight until the last copy is gone.
  using Token = std::shared_ptr<void>;

  Token Start() {
    {
      const MutexLock lock(state_->mutex);
      ++state_->running;
    }
    // The token keeps the state alive: the owner may go as soon as the count is 0.
    return {nullptr, [state = state_](std::nullptr_t) {
              const MutexLock lock(state->mutex);
              if (--state->running == 0) state->ended.NotifyAll();
            }};
  }

  void WaitForAll() {
    const MutexLock lock(state_->mutex);
    while (state_->running > 0) state_->ended.Wait(state_->mutex);
  }

 private:
  struct State {
    Mutex mutex;
    CondVar ended;
    size_t running TOUCHSTONE_GUARDED_BY(mutex) = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_ACTIVITY_H_

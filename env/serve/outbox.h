#ifndef TOUCHSTONE_ENV_SERVE_OUTBOX_H_
#define TOUCHSTONE_ENV_SERVE_OUTBOX_H_

#include <functional>
#include <vector>

#include "base/mutex.h"
#include "base/unique_fd.h"

namespace touchstone {

// What other threads hand to the thread of a loop. Post is for any thread; the rest is for the loop's. What is posted
// when the loop has ended is never run.
class Outbox {
 public:
  Outbox();

  void Post(std::function<void()> work);
  // Readable while something is there: many posts wake once.
  int fd() const { return event_.get(); }
  // Runs what was posted, in order.
  void Run();

 private:
  UniqueFd event_;
  Mutex mutex_;
  std::vector<std::function<void()>> posted_ TOUCHSTONE_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> running_;  // the loop's
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_OUTBOX_H_

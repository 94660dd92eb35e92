#ifndef TOUCHSTONE_SANDBOX_RUNNER_KILL_FILTER_H_
#define TOUCHSTONE_SANDBOX_RUNNER_KILL_FILTER_H_

namespace touchstone {

// From here on a process of this box that sends SIGKILL, to itself or to another, dies of SIGSYS instead. A SIGKILL
// does not say who sent it, so one that ends a candidate has to be taken for somebody else's until it comes twice; a
// SIGSYS is the candidate's own doing, known at once. Not a wall: timers and other ways around it lead back to the
// second attempt. For the calling thread and all that it starts. False where the kernel has no filters.
bool RefuseSendingSigkill();

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_RUNNER_KILL_FILTER_H_

#ifndef TOUCHSTONE_ENV_SERVE_SCHEDULER_H_
#define TOUCHSTONE_ENV_SERVE_SCHEDULER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "env/evaluations.h"
#include "env/serve/wait_queue.h"
#include "reward/reward.h"

namespace touchstone {

struct SlotSpec {
  std::string name;       // for people and metrics: "cpu0"
  std::vector<int> cpus;  // the first is the judge's; no timed slot shares a core with any other slot
  bool untimed = false;   // takes only work that is not timed (profile `check`), and may share its cores with its kind
};

enum class SlotState { kStarting, kIdle, kBusy, kProbing, kQuarantined };
std::string_view ToString(SlotState state);

// What one evaluation came to, for metrics.
struct JobReport {
  std::string slot;
  const EvalResult* result = nullptr;  // valid during the call
  std::chrono::duration<double> waited{};
  std::chrono::duration<double> ran{};
};

struct SchedulerOptions {
  std::vector<SlotSpec> slots;
  // Makes the evaluator of a slot, on the slot's own thread; called again after a quarantine.
  std::function<Result<std::unique_ptr<Evaluator>>(const SlotSpec&)> make_evaluator;
  // Whether the slot works without any candidate. Runs on the slot's thread.
  std::function<Status(Evaluator&)> probe;
  std::function<void(const JobReport&)> on_finished;                  // on a slot's thread; may be empty
  std::function<void(const std::string& slot)> on_environment_fault;  // the same

  size_t max_waiting = 4096;
  std::chrono::milliseconds first_reprobe{500};  // of a quarantined slot; doubles with every failure
  std::chrono::milliseconds longest_reprobe{30'000};
  std::chrono::milliseconds hopeless_after{60'000};  // no slot worked for so long: what waits is refused
  std::map<std::string, std::string> device_facts;
};

struct SlotStatus {
  SlotSpec spec;
  SlotState state = SlotState::kStarting;
  std::string why;  // of a quarantine
  std::chrono::duration<double> busy{};
  uint64_t evaluations = 0;
};

struct SchedulerStatus {
  std::vector<SlotStatus> slots;
  size_t waiting = 0;
  size_t running = 0;
};

// Runs evaluations on slots, one thread and one Evaluator each.
//
// Fair between clients (WaitQueue). A job's deadline includes its waiting; when it passes the job is answered at once,
// on the scheduler's own thread, and what still runs is left to end. Faults (design V13): after an environment fault
// the slot probes itself, and is quarantined and probed again and again where that fails; the job goes to another slot
// once, or to the same one where there is no other that works, but only after that one has passed a probe. Who breaks a
// second slot that has just been seen working has himself to blame.
class Scheduler final : public Evaluations {
 public:
  // kInvalidArgument: no slot, or two timed slots share a core. Evaluators are made in the background.
  static Result<std::unique_ptr<Scheduler>> Create(SchedulerOptions options);
  // Refuses what waits (kUnavailable) and waits for what runs.
  ~Scheduler() override;

  Status Submit(EvaluationJob job) override;
  bool Cancel(const RequestKey& key) override;
  std::map<std::string, std::string> DeviceFacts() const override;

  // From now on nothing is taken, and what waits is refused; what runs goes on.
  void Stop();
  SchedulerStatus status() const;

 private:
  struct Slot {
    explicit Slot(SlotSpec given) : spec(std::move(given)) {}
    const SlotSpec spec;
    std::unique_ptr<Evaluator> evaluator;  // the slot's thread only
    // The slot's thread only: when it passed its last probe, if no job has run since.
    std::chrono::steady_clock::time_point proven_at{};
    SlotState state = SlotState::kStarting;
    std::string why;
    std::unique_ptr<ScheduledJob> running;
    std::chrono::steady_clock::duration busy{};
    std::chrono::steady_clock::time_point busy_since{};
    uint64_t evaluations = 0;
    std::thread thread;
  };
  using Done = std::function<void()>;  // answers one job; called without the lock

  explicit Scheduler(SchedulerOptions options);
  void RunSlot(Slot& slot);
  // Starts the evaluator or probes it until the slot works. False: stopped.
  bool MakeWork(Slot& slot);
  Status StartAndProbe(Slot& slot);
  // Waits for a job that this slot may take. Null: stopped.
  std::unique_ptr<ScheduledJob> NextJob(Slot& slot);
  void RunJob(Slot& slot, std::unique_ptr<ScheduledJob> job);
  void Answer(Slot& slot, std::chrono::steady_clock::time_point begin, Result<EvalResult> result);
  void SendElsewhere(Slot& slot);
  void Requeue(std::unique_ptr<ScheduledJob> job);
  void Forget(const ScheduledJob& job);
  bool MayRun(const Slot& slot, const ScheduledJob& job) const TOUCHSTONE_REQUIRES(mutex_);
  void SetState(Slot& slot, SlotState state, std::string why = "");
  void WakeFor(const ScheduledJob& job) TOUCHSTONE_REQUIRES(mutex_);
  void KeepTime();
  void ExpireUntil(std::chrono::steady_clock::time_point now, std::vector<Done>& answers) TOUCHSTONE_REQUIRES(mutex_);
  void RefuseWaiting(const std::string& why, std::vector<Done>& answers) TOUCHSTONE_REQUIRES(mutex_);

  const SchedulerOptions options_;
  mutable Mutex mutex_;
  CondVar timed_wake_;    // slots that take any work
  CondVar untimed_wake_;  // slots that take untimed work only
  CondVar quarantine_wake_;
  CondVar clock_wake_;
  bool stopping_ TOUCHSTONE_GUARDED_BY(mutex_) = false;
  bool ended_ TOUCHSTONE_GUARDED_BY(mutex_) = false;
  WaitQueue waiting_ TOUCHSTONE_GUARDED_BY(mutex_);
  // Of jobs that wait or run.
  std::set<std::pair<std::chrono::steady_clock::time_point, RequestKey>> deadlines_ TOUCHSTONE_GUARDED_BY(mutex_);
  // Since when no slot works; max: some does.
  std::chrono::steady_clock::time_point hopeless_since_ TOUCHSTONE_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Slot>> slots_;  // the vector is fixed; states, running jobs and times: mutex_
  std::thread clock_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_SCHEDULER_H_

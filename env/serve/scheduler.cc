#include "env/serve/scheduler.h"

#include <algorithm>

#include "base/hash.h"
#include "base/utc.h"

namespace touchstone {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kNever = Clock::time_point::max();
constexpr int kMaxSlotsBroken = 2;

bool IsTimed(const ScheduledJob& job) { return job.job.request.profile.max_rounds > 0; }

// The record of a job whose end no evaluator decided.
EvalResult RecordOf(const EvaluationJob& job, EvalStatus status, std::string reason) {
  EvalResult result;
  result.id = ToHex(NewSecretKey()).substr(0, 24);
  result.status = status;
  result.reason = std::move(reason);
  result.phase = "queue";
  if (job.task != nullptr) {
    result.task = job.task->id;
    result.task_hash = job.task->content_hash;
  }
  result.interface_name = job.request.interface_name;
  result.candidate_hash = HashHex(job.request.source);
  result.baseline = job.request.baseline_source ? HashHex(*job.request.baseline_source) : "reference";
  result.profile = job.request.profile.name;
  result.record_time = UtcNow();
  return result;
}

// An evaluator's error that is not about its slot: a bad request, or a task whose file has changed.
bool IsRequests(const Error& error) {
  return error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kNotFound ||
         error.code() == ErrorCode::kCorrupt;
}

bool IsFault(const Result<EvalResult>& result) {
  return result.ok() ? result->fault() == Fault::kEnvironment : !IsRequests(result.error());
}

std::string WhatHappened(const Result<EvalResult>& result) {
  return result.ok() ? result->reason : result.error().message();
}

Status CheckSlots(const std::vector<SlotSpec>& slots) {
  if (slots.empty()) return Error(ErrorCode::kInvalidArgument, "slots: there is none");
  std::map<int, const SlotSpec*> owners;
  for (const SlotSpec& slot : slots) {
    for (const int cpu : slot.cpus) {
      const auto [owner, is_first] = owners.emplace(cpu, &slot);
      if (is_first || owner->second == &slot || (slot.untimed && owner->second->untimed)) continue;
      return Error(ErrorCode::kInvalidArgument, "slots: '" + slot.name + "' and '" + owner->second->name +
                                                    "' share core " + std::to_string(cpu) + "; only untimed slots may");
    }
  }
  return {};
}

}  // namespace

std::string_view ToString(SlotState state) {
  constexpr std::string_view kNames[] = {"starting", "idle", "busy", "probing", "quarantined"};
  return kNames[static_cast<size_t>(state)];
}

Result<std::unique_ptr<Scheduler>> Scheduler::Create(SchedulerOptions options) {
  TOUCHSTONE_RETURN_IF_ERROR(CheckSlots(options.slots));
  return std::unique_ptr<Scheduler>(new Scheduler(std::move(options)));
}

Scheduler::Scheduler(SchedulerOptions options) : options_(std::move(options)), hopeless_since_(Clock::now()) {
  for (const SlotSpec& spec : options_.slots) slots_.push_back(std::make_unique<Slot>(spec));
  for (const auto& slot : slots_) slot->thread = std::thread([this, &slot = *slot] { RunSlot(slot); });
  clock_ = std::thread([this] { KeepTime(); });
}

Scheduler::~Scheduler() {
  Stop();
  for (const auto& slot : slots_) slot->thread.join();
  {
    MutexLock lock(mutex_);
    ended_ = true;
    clock_wake_.NotifyAll();
  }
  clock_.join();
}

Status Scheduler::Submit(EvaluationJob job) {
  MutexLock lock(mutex_);
  if (stopping_) return Error(ErrorCode::kUnavailable, "the server is shutting down");
  if (waiting_.size() >= options_.max_waiting) {
    return Error(ErrorCode::kExhausted, "the queue is full: " + std::to_string(options_.max_waiting) + " jobs wait");
  }
  const bool hopeless = hopeless_since_ != kNever && Clock::now() - hopeless_since_ >= options_.hopeless_after;
  if (hopeless) return Error(ErrorCode::kUnavailable, "no slot works");
  auto scheduled = std::make_unique<ScheduledJob>();
  scheduled->arrived = Clock::now();
  const RequestKey key = job.key;
  const auto deadline = job.deadline;
  scheduled->job = std::move(job);
  const ScheduledJob& pushed = *scheduled;
  const bool runs = std::any_of(slots_.begin(), slots_.end(), [&](const auto& slot) {
    return slot->running != nullptr && !slot->running->answered && slot->running->job.key == key;
  });
  if (runs || !waiting_.Push(std::move(scheduled))) {
    return Error(ErrorCode::kConflict, "request '" + key.request_id + "' is being worked on");
  }
  if (deadline != kNever) {
    deadlines_.emplace(deadline, key);
    clock_wake_.NotifyAll();
  }
  WakeFor(pushed);
  return {};
}

void Scheduler::WakeFor(const ScheduledJob& job) {
  if (job.faults > 0) {  // not every slot may take it
    timed_wake_.NotifyAll();
    untimed_wake_.NotifyAll();
    return;
  }
  timed_wake_.NotifyOne();
  if (!IsTimed(job)) untimed_wake_.NotifyOne();
}

bool Scheduler::Cancel(const RequestKey& key) {
  std::unique_ptr<ScheduledJob> job;
  {
    MutexLock lock(mutex_);
    for (const auto& slot : slots_) {
      if (slot->running == nullptr || slot->running->answered || slot->running->job.key != key) continue;
      slot->running->cancelled = true;
      return true;
    }
    job = waiting_.Remove(key);
    if (job == nullptr) return false;
    deadlines_.erase({job->job.deadline, key});
  }
  job->job.done(RecordOf(job->job, EvalStatus::kCancelled, "cancelled while it waited"));
  return true;
}

std::map<std::string, std::string> Scheduler::DeviceFacts() const { return options_.device_facts; }

void Scheduler::Stop() {
  std::vector<Done> answers;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    RefuseWaiting("the server is shutting down", answers);
    timed_wake_.NotifyAll();
    untimed_wake_.NotifyAll();
    quarantine_wake_.NotifyAll();
    clock_wake_.NotifyAll();
  }
  for (const Done& answer : answers) answer();
}

SchedulerStatus Scheduler::status() const {
  MutexLock lock(mutex_);
  SchedulerStatus status;
  status.waiting = waiting_.size();
  for (const auto& slot : slots_) {
    SlotStatus& facts =
        status.slots.emplace_back(SlotStatus{slot->spec, slot->state, slot->why, slot->busy, slot->evaluations});
    if (slot->running == nullptr) continue;
    ++status.running;
    facts.busy += Clock::now() - slot->busy_since;
  }
  return status;
}

// --- one slot -------------------------------------------------------------------------------------------------------

void Scheduler::RunSlot(Slot& slot) {
  while (MakeWork(slot)) {
    auto job = NextJob(slot);
    if (job == nullptr) return;
    // A second chance counts only on a slot that has been seen working after the first one failed.
    if (job->faults > 0 && slot.proven_at < job->faulted_at) {
      SetState(slot, SlotState::kProbing);
      const Status works = StartAndProbe(slot);
      if (!works.ok()) {
        Requeue(std::move(job));
        continue;
      }
    }
    RunJob(slot, std::move(job));
  }
}

Status Scheduler::StartAndProbe(Slot& slot) {
  slot.proven_at = {};
  if (slot.evaluator == nullptr) {
    TOUCHSTONE_ASSIGN(slot.evaluator, options_.make_evaluator(slot.spec));
  }
  Status works = options_.probe(*slot.evaluator);
  if (works.ok()) slot.proven_at = Clock::now();
  if (!works.ok()) slot.evaluator.reset();  // started from the ground up next time
  return works;
}

bool Scheduler::MakeWork(Slot& slot) {
  auto pause = options_.first_reprobe;
  while (slot.evaluator == nullptr) {
    const Status works = StartAndProbe(slot);
    if (works.ok()) break;
    SetState(slot, SlotState::kQuarantined, works.error().message());
    MutexLock lock(mutex_);
    const auto again = Clock::now() + pause;
    while (!stopping_ && Clock::now() < again) quarantine_wake_.WaitUntil(mutex_, again);
    if (stopping_) return false;
    pause = std::min(pause * 2, options_.longest_reprobe);
  }
  SetState(slot, SlotState::kIdle);
  return true;
}

void Scheduler::SetState(Slot& slot, SlotState state, std::string why) {
  MutexLock lock(mutex_);
  slot.state = state;
  slot.why = std::move(why);
  if (state == SlotState::kQuarantined) {  // what was left for this slot is the others' now
    timed_wake_.NotifyAll();
    untimed_wake_.NotifyAll();
  }
  const bool works = std::any_of(slots_.begin(), slots_.end(), [](const auto& other) {
    return other->state == SlotState::kIdle || other->state == SlotState::kBusy;
  });
  if (works) hopeless_since_ = kNever;
  if (works || hopeless_since_ != kNever) return;
  hopeless_since_ = Clock::now();
  clock_wake_.NotifyAll();
}

bool Scheduler::MayRun(const Slot& slot, const ScheduledJob& job) const {
  if (slot.spec.untimed && IsTimed(job)) return false;
  if (job.faulted_slot != slot.spec.name) return true;
  // Another one should take it, if there is another that works.
  return std::none_of(slots_.begin(), slots_.end(), [&](const auto& other) {
    const bool fits = !other->spec.untimed || !IsTimed(job);
    return other.get() != &slot && fits && (other->state == SlotState::kIdle || other->state == SlotState::kBusy);
  });
}

std::unique_ptr<ScheduledJob> Scheduler::NextJob(Slot& slot) {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (auto job = waiting_.Pop([&](const ScheduledJob& candidate)
                                    TOUCHSTONE_REQUIRES(mutex_) { return MayRun(slot, candidate); })) {
      return job;
    }
    (slot.spec.untimed ? untimed_wake_ : timed_wake_).Wait(mutex_);
  }
  return nullptr;
}

void Scheduler::RunJob(Slot& slot, std::unique_ptr<ScheduledJob> job) {
  const auto begin = Clock::now();
  const EvalRequest* request = &job->job.request;
  {
    MutexLock lock(mutex_);
    slot.state = SlotState::kBusy;
    slot.running = std::move(job);
    slot.busy_since = begin;
  }
  Result<EvalResult> result = slot.evaluator->Evaluate(*request);
  slot.proven_at = {};
  if (!IsFault(result)) return Answer(slot, begin, std::move(result));

  if (options_.on_environment_fault) options_.on_environment_fault(slot.spec.name);
  const std::string what = WhatHappened(result);
  int faults = 0;
  std::string before;
  {
    MutexLock lock(mutex_);
    faults = ++slot.running->faults;
    before = std::exchange(slot.running->faulted_slot, slot.spec.name);
    slot.running->faulted_at = Clock::now();
  }
  if (faults < kMaxSlotsBroken) {
    SendElsewhere(slot);
  } else {
    // The slot had passed a probe right before.
    const std::string where =
        before == slot.spec.name ? "slot " + before + " twice" : "slots " + before + " and " + slot.spec.name;
    EvalResult blamed = result.ok() ? *std::move(result) : RecordOf(slot.running->job, EvalStatus::kRuntimeError, "");
    blamed.status = EvalStatus::kRuntimeError;
    blamed.reason = "it broke " + where + ", which work without it: " + what;
    Answer(slot, begin, std::move(blamed));
  }
  SetState(slot, SlotState::kProbing, what);
  (void)StartAndProbe(slot);  // a failure leaves the slot without an evaluator, and MakeWork goes on
}

void Scheduler::Answer(Slot& slot, Clock::time_point begin, Result<EvalResult> result) {
  std::unique_ptr<ScheduledJob> job;
  const auto end = Clock::now();
  {
    MutexLock lock(mutex_);
    job = std::move(slot.running);
    slot.busy += end - begin;
    ++slot.evaluations;
    if (!job->answered && job->job.deadline != kNever) deadlines_.erase({job->job.deadline, job->job.key});
  }
  if (result.ok()) {
    result->budget_ms["queue"] = std::chrono::duration<double, std::milli>(begin - job->arrived).count();
    result->environment["slot"] = slot.spec.name;
    result->environment["cores_shared"] = slot.spec.untimed ? "yes" : "no";
    if (options_.on_finished) options_.on_finished({slot.spec.name, &*result, begin - job->arrived, end - begin});
  }
  if (job->answered) return;
  if (job->cancelled && result.ok()) {
    result->status = EvalStatus::kCancelled;
    result->reason = "cancelled while it ran";
    result->rewarded_speedup = 0;
    result->rewarded_lower_bound = 0;
  }
  job->job.done(std::move(result));
}

void Scheduler::SendElsewhere(Slot& slot) {
  std::unique_ptr<ScheduledJob> job;
  {
    MutexLock lock(mutex_);
    slot.busy += Clock::now() - slot.busy_since;
    ++slot.evaluations;
    slot.state = SlotState::kProbing;
    job = std::move(slot.running);
  }
  Requeue(std::move(job));
}

void Scheduler::Requeue(std::unique_ptr<ScheduledJob> job) {
  if (job->answered) return;
  if (job->cancelled) {
    Forget(*job);
    return job->job.done(RecordOf(job->job, EvalStatus::kCancelled, "cancelled while it ran"));
  }
  {
    MutexLock lock(mutex_);
    if (!stopping_) {
      const ScheduledJob& pushed = *job;
      waiting_.Push(std::move(job));
      WakeFor(pushed);
      return;
    }
  }
  Forget(*job);
  job->job.done(Error(ErrorCode::kUnavailable, "the server is shutting down"));
}

void Scheduler::Forget(const ScheduledJob& job) {
  MutexLock lock(mutex_);
  if (job.job.deadline != kNever) deadlines_.erase({job.job.deadline, job.job.key});
}

// --- time -----------------------------------------------------------------------------------------------------------

void Scheduler::KeepTime() {
  std::vector<Done> answers;
  mutex_.lock();
  while (!ended_) {
    const auto now = Clock::now();
    ExpireUntil(now, answers);
    auto next = deadlines_.empty() ? kNever : deadlines_.begin()->first;
    if (hopeless_since_ != kNever && waiting_.size() > 0) {
      const auto hopeless = hopeless_since_ + options_.hopeless_after;
      if (now >= hopeless) RefuseWaiting("no slot works", answers);
      if (now < hopeless) next = std::min(next, hopeless);
    }
    if (!answers.empty()) {
      mutex_.unlock();
      for (const Done& answer : answers) answer();
      answers.clear();
      mutex_.lock();
    } else if (next == kNever) {
      clock_wake_.Wait(mutex_);
    } else {
      clock_wake_.WaitUntil(mutex_, next);
    }
  }
  mutex_.unlock();
}

void Scheduler::ExpireUntil(Clock::time_point now, std::vector<Done>& answers) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const RequestKey key = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    if (auto job = waiting_.Remove(key)) {
      std::shared_ptr<ScheduledJob> late = std::move(job);
      answers.push_back([late] {
        late->job.done(RecordOf(late->job, EvalStatus::kDeadline, "its deadline passed while it waited"));
      });
      continue;
    }
    for (const auto& slot : slots_) {
      if (slot->running == nullptr || slot->running->answered || slot->running->job.key != key) continue;
      slot->running->answered = true;
      auto record = std::make_shared<EvalResult>(
          RecordOf(slot->running->job, EvalStatus::kDeadline, "its deadline passed while it ran"));
      answers.push_back([record, done = std::move(slot->running->job.done)] { done(std::move(*record)); });
    }
  }
}

void Scheduler::RefuseWaiting(const std::string& why, std::vector<Done>& answers) {
  while (auto job = waiting_.PopAny()) {
    deadlines_.erase({job->job.deadline, job->job.key});
    answers.push_back([why, done = std::move(job->job.done)] { done(Error(ErrorCode::kUnavailable, why)); });
  }
}

}  // namespace touchstone

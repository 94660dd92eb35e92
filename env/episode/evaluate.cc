// What steps, scores and validations have in common.
#include <utility>

#include "env/episode/environment.h"

namespace touchstone {

Status EpisodeEnvironment::Submit(Candidate candidate, std::function<void(Result<EvalResult>)> done) {
  EvaluationJob job;
  job.key = std::move(candidate.key);
  job.task = std::move(candidate.task);
  job.request.task = job.task.get();
  job.request.size = candidate.spec.size;
  job.request.interface_name = candidate.spec.interface_name;
  job.request.source = std::move(candidate.source);
  job.request.baseline_source = candidate.spec.baseline_source;
  TOUCHSTONE_ASSIGN(const MeasurementProfile* profile, library_->FindProfile(candidate.spec.profile));
  job.request.profile = *profile;
  if (candidate.deadline.count() > 0) job.deadline = std::chrono::steady_clock::now() + candidate.deadline;
  job.priority = candidate.priority;
  job.done = std::move(done);
  return evaluations_.Submit(std::move(job));
}

void EpisodeEnvironment::Append(RolloutRecord record, RolloutStore::Done done) {
  if (store_ == nullptr) return done(uint64_t{0});
  store_->Append(std::move(record), std::move(done));
}

}  // namespace touchstone

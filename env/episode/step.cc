// One step, from the request to its durable rollout, in the order in which things happen.
#include <utility>

#include "env/episode/checks.h"
#include "env/episode/environment.h"
#include "env/episode/records.h"

namespace touchstone {

struct EpisodeEnvironment::StepWork {
  StepRequest request;
  std::shared_ptr<Session> session;  // from here on: once the step has started
  Standing standing;
  Submitted submitted;
  Activity::Token token;
};

namespace {

Status CheckStep(const StepRequest& request) {
  TOUCHSTONE_RETURN_IF_ERROR(CheckKey(request.key));
  TOUCHSTONE_RETURN_IF_ERROR(CheckAction(request.action));
  TOUCHSTONE_RETURN_IF_ERROR(CheckRange("turn", request.turn, -1, kMaxTurns));
  TOUCHSTONE_RETURN_IF_ERROR(CheckPacing(request.deadline, request.priority));
  TOUCHSTONE_RETURN_IF_ERROR(CheckText("prompt_hash", request.prompt_hash, kMaxLabelBytes));
  return CheckText("policy_version", request.policy_version, kMaxLabelBytes);
}

}  // namespace

void EpisodeEnvironment::Step(StepRequest request, Done<StepReply> done) {
  if (Status good = CheckStep(request); !good.ok()) return done(good.error());
  if (!answers_.Join(request.key, std::move(done))) return;
  auto work = std::make_shared<StepWork>();
  work->request = std::move(request);
  work->token = activity_.Start();
  BeginStep(work);
}

void EpisodeEnvironment::BeginStep(const std::shared_ptr<StepWork>& work) {
  const std::string& id = work->request.session;
  if (auto session = sessions_.Find(id)) return TryStep(work, std::move(session));
  if (store_ != nullptr) return background_.Post([this, work] { BeginFromStore(work); });
  const auto why_ended = sessions_.WhyEnded(id);
  FinishStep(work, why_ended ? Error(ErrorCode::kClosed, "session '" + id + "' has ended: " + *why_ended)
                             : Error(ErrorCode::kNotFound, "session: no '" + id + "'"));
}

void EpisodeEnvironment::BeginFromStore(const std::shared_ptr<StepWork>& work) {
  auto before = FindStep(work->request.key);
  if (!before.ok()) return FinishStep(work, before.error());
  if (*before) return FinishStep(work, **std::move(before));
  auto session = Load(work->request.session);
  if (!session.ok()) return FinishStep(work, session.error());
  TryStep(work, std::move(session).value());
}

void EpisodeEnvironment::TryStep(const std::shared_ptr<StepWork>& work, std::shared_ptr<Session> session) {
  const StepRequest& request = work->request;
  auto begun = session->Begin(request.key, request.turn, Now(), std::chrono::steady_clock::now());
  if (!begun.ok()) return FinishStep(work, begun.error());
  switch (begun->kind) {
    case Session::Begun::Kind::kStarted:
      work->session = std::move(session);
      work->standing = std::move(begun->standing);
      return EvaluateStep(work);
    case Session::Begun::Kind::kUnloaded:
      return BeginStep(work);
    case Session::Begun::Kind::kAnswered:
      break;
  }
  const Error forgotten(ErrorCode::kConflict,
                        "request id '" + request.key.request_id + "' was answered; the answer is no longer known");
  if (store_ == nullptr) return FinishStep(work, forgotten);
  background_.Post([this, work, forgotten] {
    auto before = FindStep(work->request.key);
    if (!before.ok()) return FinishStep(work, before.error());
    FinishStep(work, *before ? Result<StepReply>(**std::move(before)) : forgotten);
  });
}

void EpisodeEnvironment::EvaluateStep(const std::shared_ptr<StepWork>& work) {
  const Episode& episode = *work->session->episode();
  StepRequest& request = work->request;
  work->submitted = TakeCandidate(request.action, episode.spec.interface_name, options_.max_source_bytes);
  if (!work->submitted.why_format_error.empty()) {
    return CommitStep(work, FormatErrorResult(episode.spec, work->submitted.why_format_error, Now()));
  }
  Candidate candidate{request.key,      episode.spec,    episode.task, work->submitted.source,
                      request.deadline, request.priority};
  const Status taken = Submit(std::move(candidate), [this, work](Result<EvalResult> result) {
    if (result.ok()) return CommitStep(work, std::move(result).value());
    FinishStep(work, result.error());
  });
  if (!taken.ok()) FinishStep(work, taken.error());
}

void EpisodeEnvironment::CommitStep(const std::shared_ptr<StepWork>& work, EvalResult result) {
  const std::shared_ptr<const Episode>& episode = work->session->episode();
  RolloutRecord record =
      MakeStepRecord(*episode, work->standing, work->request, work->submitted, std::move(result), Now());
  auto reply = std::make_shared<StepReply>(MakeStepReply(*episode, record, work->standing.best_speedup));
  const Taken taken(record);
  Append(std::move(record), [this, work, reply, taken](const Result<uint64_t>& written) {
    if (!written.ok()) return FinishStep(work, written.error());
    std::exchange(work->session, nullptr)->Advance(taken, std::chrono::steady_clock::now());
    if (!taken.why_ended.empty()) {
      sessions_.Remove(reply->session, taken.why_ended);
      if (store_ != nullptr) CloseInStore(reply->session, taken.why_ended, [](const Result<bool>&) {});
    }
    FinishStep(work, std::move(*reply));
  });
}

void EpisodeEnvironment::FinishStep(const std::shared_ptr<StepWork>& work, Result<StepReply> reply) {
  if (work->session) work->session->Abandon(std::chrono::steady_clock::now());  // it started and left nothing behind
  answers_.Finish(work->request.key, std::move(reply));
}

Result<std::optional<StepReply>> EpisodeEnvironment::FindStep(const RequestKey& key) {
  if (store_ == nullptr) return answers_.Find<StepReply>(key);
  TOUCHSTONE_ASSIGN(const std::optional<RolloutRecord> record, store_->FindByRequest(key));
  if (!record || record->session.empty()) return std::optional<StepReply>();
  TOUCHSTONE_ASSIGN(const std::optional<SessionRecord> session, store_->FindSession(record->session));
  if (!session) return Error(ErrorCode::kCorrupt, "rollout '" + record->id + "' is of a session that is not stored");
  TOUCHSTONE_ASSIGN(const std::shared_ptr<const Episode> episode, EpisodeOf(*session));
  double best_before = 0;
  if (!record->parent.empty()) {
    TOUCHSTONE_ASSIGN(const RolloutRecord parent, store_->Read(record->parent));
    best_before = parent.best_speedup;
  }
  return std::optional<StepReply>(MakeStepReply(*episode, *record, best_before));
}

}  // namespace touchstone

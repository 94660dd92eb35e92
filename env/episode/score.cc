// Candidates without an episode, and rollouts that are measured again.
#include <utility>

#include "env/episode/checks.h"
#include "env/episode/environment.h"
#include "env/episode/records.h"

namespace touchstone {

struct EpisodeEnvironment::ScoreWork {
  ScoreRequest request;
  SessionSpec spec;
  Submitted submitted;
  Activity::Token token;
};

struct EpisodeEnvironment::ValidateWork {
  ValidateRequest request;
  RolloutRecord stored;
  SessionSpec spec;  // what to do again
  std::shared_ptr<const Task> task;
  Activity::Token token;
};

void EpisodeEnvironment::Score(ScoreRequest request, Done<ScoreReply> done) {
  Status good = CheckKey(request.key);
  if (good.ok()) good = CheckAction(request.action);
  if (good.ok()) good = CheckPacing(request.deadline, request.priority);
  if (!good.ok()) return done(good.error());
  auto spec = library_->Resolve(request);
  if (!spec.ok()) return done(spec.error());
  if (!answers_.Join(request.key, std::move(done))) return;
  auto work = std::make_shared<ScoreWork>();
  work->request = std::move(request);
  work->spec = std::move(spec).value();
  work->token = activity_.Start();
  if (store_ == nullptr) return BeginScore(work);
  background_.Post([this, work] {
    auto before = FindScore(work->request.key);
    if (!before.ok()) return answers_.Finish<ScoreReply>(work->request.key, before.error());
    if (*before) return answers_.Finish<ScoreReply>(work->request.key, **std::move(before));
    BeginScore(work);
  });
}

void EpisodeEnvironment::BeginScore(const std::shared_ptr<ScoreWork>& work) {
  const ScoreRequest& request = work->request;
  work->submitted = TakeCandidate(request.action, work->spec.interface_name, options_.max_source_bytes);
  if (!work->submitted.why_format_error.empty()) {
    return CommitScore(work, FormatErrorResult(work->spec, work->submitted.why_format_error, Now()));
  }
  auto task = library_->FindTask(work->spec.task);
  if (!task.ok()) return answers_.Finish<ScoreReply>(request.key, task.error());
  Candidate candidate{request.key,      work->spec,      std::move(task).value(), work->submitted.source,
                      request.deadline, request.priority};
  const Status taken = Submit(std::move(candidate), [this, work](Result<EvalResult> result) {
    if (result.ok()) return CommitScore(work, std::move(result).value());
    answers_.Finish<ScoreReply>(work->request.key, result.error());
  });
  if (!taken.ok()) answers_.Finish<ScoreReply>(request.key, taken.error());
}

void EpisodeEnvironment::CommitScore(const std::shared_ptr<ScoreWork>& work, EvalResult result) {
  const ScoreRequest& request = work->request;
  RolloutRecord record = MakeScoreRecord(work->spec, request.key, work->submitted, std::move(result), Now());
  record.prompt_hash = request.prompt_hash;
  record.response = request.action.response;
  auto reply = std::make_shared<ScoreReply>(MakeScoreReply(record));
  Append(std::move(record), [this, work, reply](const Result<uint64_t>& written) {
    answers_.Finish(work->request.key,
                    written.ok() ? Result<ScoreReply>(std::move(*reply)) : Result<ScoreReply>(written.error()));
  });
}

Result<std::optional<ScoreReply>> EpisodeEnvironment::FindScore(const RequestKey& key) {
  if (store_ == nullptr) return answers_.Find<ScoreReply>(key);
  TOUCHSTONE_ASSIGN(const std::optional<RolloutRecord> record, store_->FindByRequest(key));
  if (!record || !record->session.empty()) return std::optional<ScoreReply>();
  return std::optional<ScoreReply>(MakeScoreReply(*record));
}

void EpisodeEnvironment::Validate(ValidateRequest request, Done<ValidateReply> done) {
  Status good = CheckKey(request.key);
  if (good.ok()) good = CheckPacing(request.deadline, request.priority);
  if (!good.ok()) return done(good.error());
  if (store_ == nullptr) return done(Error(ErrorCode::kInvalidArgument, "this environment keeps no rollouts"));
  if (!answers_.Join(request.key, std::move(done))) return;
  auto work = std::make_shared<ValidateWork>();
  work->request = std::move(request);
  work->token = activity_.Start();
  background_.Post([this, work] {
    const RequestKey& key = work->request.key;
    auto before = FindValidation(key);
    if (!before.ok()) return answers_.Finish<ValidateReply>(key, before.error());
    if (*before) return answers_.Finish<ValidateReply>(key, **std::move(before));
    if (Status ready = PrepareValidation(*work); !ready.ok()) {
      return answers_.Finish<ValidateReply>(key, ready.error());
    }
    BeginValidation(work);
  });
}

// What the stored rollout was: only what is exactly known can be done again.
Status EpisodeEnvironment::PrepareValidation(ValidateWork& work) {
  TOUCHSTONE_ASSIGN(work.stored, store_->Read(work.request.rollout));
  const RolloutRecord& stored = work.stored;
  const auto cannot = [&](const std::string& why) {
    return Error(ErrorCode::kInvalidArgument, "rollout: '" + stored.id + "' cannot be measured again: " + why);
  };
  if (stored.source.empty()) return cannot("it holds no candidate");
  const auto task = library_->FindTask(stored.task);
  if (!task.ok() || (*task)->content_hash != stored.result.task_hash) return cannot("its task has changed");
  work.task = *task;
  if (stored.session.empty()) {
    if (stored.result.baseline != "reference") return cannot("the source of its baseline is not kept");
    const auto size = stored.result.environment.find("size");
    if (size == stored.result.environment.end()) return cannot("its record does not name a size");
    work.spec.size = size->second;
    work.spec.interface_name = stored.result.interface_name;
    work.spec.profile = stored.result.profile;
  } else {
    TOUCHSTONE_ASSIGN(const std::optional<SessionRecord> session, store_->FindSession(stored.session));
    if (!session) return cannot("its session is not stored");
    TOUCHSTONE_ASSIGN(work.spec, SessionSpecFromJson(session->spec));
  }
  work.spec.task = stored.task;
  work.spec.reward = stored.reward_preset;
  work.spec.group_id.clear();  // a second measurement is no second member of its group
  work.spec.policy_version = stored.policy_version;
  return {};
}

void EpisodeEnvironment::BeginValidation(const std::shared_ptr<ValidateWork>& work) {
  const ValidateRequest& request = work->request;
  Candidate candidate{request.key, work->spec, work->task, work->stored.source, request.deadline, request.priority};
  const Status taken = Submit(std::move(candidate), [this, work](Result<EvalResult> result) {
    const RequestKey& key = work->request.key;
    if (!result.ok()) return answers_.Finish<ValidateReply>(key, result.error());
    Submitted submitted;
    submitted.source = work->stored.source;
    RolloutRecord record = MakeScoreRecord(work->spec, key, submitted, std::move(result).value(), Now());
    record.parent = work->stored.id;
    auto reply = std::make_shared<ValidateReply>(MakeValidateReply(work->stored, record));
    Append(std::move(record), [this, work, reply](const Result<uint64_t>& written) {
      answers_.Finish(work->request.key,
                      written.ok() ? Result<ValidateReply>(std::move(*reply)) : Result<ValidateReply>(written.error()));
    });
  });
  if (!taken.ok()) answers_.Finish<ValidateReply>(request.key, taken.error());
}

Result<std::optional<ValidateReply>> EpisodeEnvironment::FindValidation(const RequestKey& key) {
  TOUCHSTONE_ASSIGN(const std::optional<RolloutRecord> again, store_->FindByRequest(key));
  if (!again) return std::optional<ValidateReply>();
  if (!again->session.empty() || again->parent.empty()) {
    return Error(ErrorCode::kConflict, "request id '" + key.request_id + "' was used for another call");
  }
  TOUCHSTONE_ASSIGN(const RolloutRecord stored, store_->Read(again->parent));
  return std::optional<ValidateReply>(MakeValidateReply(stored, *again));
}

}  // namespace touchstone

#include "env/episode/environment.h"

#include <future>
#include <utility>

#include "env/episode/checks.h"
#include "env/episode/records.h"

namespace touchstone {
namespace {

// Without a store, this many answers are remembered, so that a request that comes again is not done again.
constexpr size_t kRememberedAnswers = 4096;
// After so long without a step a session is left to the store, if there is one.
constexpr std::chrono::minutes kKeepInMemory{10};

// Calls `start` with a callback and waits for it.
template <typename Reply, typename Start>
Result<Reply> Wait(Start start) {
  std::promise<Result<Reply>> promise;
  start([&promise](Result<Reply> reply) { promise.set_value(std::move(reply)); });
  return promise.get_future().get();
}

}  // namespace

Result<std::unique_ptr<Environment>> Environment::Create(EnvironmentOptions options, Evaluations& evaluations,
                                                         RolloutStore* store, RolloutSelector* selector) {
  TOUCHSTONE_ASSIGN(auto library, Library::Load(options));
  auto environment =
      std::make_unique<EpisodeEnvironment>(std::move(options), std::move(library), evaluations, store, selector);
  TOUCHSTONE_RETURN_IF_ERROR(environment->Restore());
  return std::unique_ptr<Environment>(std::move(environment));
}

Result<ResetReply> Environment::Reset(ResetRequest request) {
  return Wait<ResetReply>([&](Done<ResetReply> done) { Reset(std::move(request), std::move(done)); });
}

Result<StepReply> Environment::Step(StepRequest request) {
  return Wait<StepReply>([&](Done<StepReply> done) { Step(std::move(request), std::move(done)); });
}

Result<ScoreReply> Environment::Score(ScoreRequest request) {
  return Wait<ScoreReply>([&](Done<ScoreReply> done) { Score(std::move(request), std::move(done)); });
}

EpisodeEnvironment::EpisodeEnvironment(EnvironmentOptions options, std::unique_ptr<const Library> library,
                                       Evaluations& evaluations, RolloutStore* store, RolloutSelector* selector)
    : options_(std::move(options)),
      library_(std::move(library)),
      evaluations_(evaluations),
      store_(store),
      selector_(selector),
      answers_(store == nullptr ? kRememberedAnswers : 0) {}

EpisodeEnvironment::~EpisodeEnvironment() { activity_.WaitForAll(); }

Status EpisodeEnvironment::Restore() {
  if (store_ == nullptr) return {};
  TOUCHSTONE_ASSIGN(const std::vector<SessionRecord> open, store_->OpenSessions());
  for (const SessionRecord& session : open) sessions_.AddUnloaded(session.id, std::chrono::steady_clock::now());
  return {};
}

void EpisodeEnvironment::Reset(ResetRequest request, Done<ResetReply> done) {
  if (Status key = CheckKey(request.key); !key.ok()) return done(key.error());
  if (!answers_.Join(request.key, std::move(done))) return;
  Activity::Token token = activity_.Start();
  if (store_ == nullptr) return OpenEpisode(request, token);
  background_.Post([this, request = std::move(request), token = std::move(token)] {
    auto before = FindReset(request.key);
    if (!before.ok()) return answers_.Finish<ResetReply>(request.key, before.error());
    if (*before) return answers_.Finish<ResetReply>(request.key, **std::move(before));
    OpenEpisode(request, token);
  });
}

Result<std::optional<ResetReply>> EpisodeEnvironment::FindReset(const RequestKey& key) {
  TOUCHSTONE_ASSIGN(const std::optional<SessionRecord> record, store_->FindSessionByRequest(key));
  if (!record) return std::optional<ResetReply>();
  TOUCHSTONE_ASSIGN(const std::shared_ptr<const Episode> episode, EpisodeOf(*record));
  TOUCHSTONE_ASSIGN(std::vector<Exemplar> exemplars, ShownIn(episode->spec));
  return std::optional<ResetReply>(MakeResetReply(*episode, std::move(exemplars)));
}

void EpisodeEnvironment::OpenEpisode(const ResetRequest& request, const Activity::Token& token) {
  const auto finish = [this, key = request.key](Result<ResetReply> reply) { answers_.Finish(key, std::move(reply)); };
  auto episode = Resolve(request);
  if (!episode.ok()) return finish(episode.error());
  auto exemplars = ShownIn((*episode)->spec);
  if (!exemplars.ok()) return finish(exemplars.error());
  auto session = std::make_shared<Session>(*episode, std::chrono::steady_clock::now());
  if (!sessions_.Add(session, options_.max_sessions)) {
    return finish(Error(ErrorCode::kExhausted,
                        "sessions: " + std::to_string(options_.max_sessions) + " are open, which is the limit"));
  }
  auto reply = std::make_shared<ResetReply>(MakeResetReply(**episode, std::move(exemplars).value()));
  if (store_ == nullptr) return finish(std::move(*reply));
  SessionRecord record;
  record.id = (*episode)->id;
  record.request = request.key;
  record.opened = (*episode)->opened;
  record.spec = ToJsonText((*episode)->spec);
  store_->OpenSession(std::move(record), [this, finish, reply, token](const Result<uint64_t>& written) {
    if (written.ok()) return finish(std::move(*reply));
    sessions_.Remove(reply->session, "it could not be stored");
    finish(written.error());
  });
}

Result<std::shared_ptr<const Episode>> EpisodeEnvironment::Resolve(const ResetRequest& request) {
  auto episode = std::make_shared<Episode>();
  TOUCHSTONE_ASSIGN(episode->spec, library_->Resolve(request));
  SessionSpec& spec = episode->spec;
  TOUCHSTONE_ASSIGN(const Method* method, library_->FindMethod(request.method));
  const int count = request.exemplars.value_or(method->exemplars);
  TOUCHSTONE_RETURN_IF_ERROR(CheckRange("exemplars", count, 0, kMaxExemplars));
  if (count > 0) {
    SelectionRequest selection;
    selection.task = spec.task;
    selection.selector = request.selector.value_or(method->selector);
    selection.count = count;
    selection.seed = request.seed;
    selection.as_of = request.exemplars_as_of;
    selection.temperature = method->temperature;
    selection.bucket_width = method->bucket_width;
    auto drawn = Sample(selection);
    if (!drawn.ok()) return drawn.error().Within("exemplars");
    for (const Selected& item : drawn->items) spec.exemplars.push_back({item.id, item.score, item.probability});
    spec.exemplars_as_of = drawn->as_of;
  }
  spec.device = evaluations_.DeviceFacts();
  TOUCHSTONE_ASSIGN(episode->task, library_->FindTask(spec.task));
  TOUCHSTONE_ASSIGN(episode->text, texts_.Get(*episode->task, spec.size, spec.interface_name, spec.device));
  episode->id = NewId();
  episode->request = request.key;
  episode->opened = Now();
  return std::shared_ptr<const Episode>(std::move(episode));
}

Result<std::shared_ptr<const Episode>> EpisodeEnvironment::EpisodeOf(const SessionRecord& record) {
  auto spec = SessionSpecFromJson(record.spec);
  if (!spec.ok()) return Error(ErrorCode::kCorrupt, "session '" + record.id + "': " + spec.error().message());
  auto episode = std::make_shared<Episode>();
  episode->spec = std::move(spec).value();
  const auto task = library_->FindTask(episode->spec.task);
  if (!task.ok() || (*task)->content_hash != episode->spec.task_hash) {
    return Error(ErrorCode::kClosed, "session '" + record.id + "' cannot go on: task '" + episode->spec.task +
                                         "' has changed since it was opened");
  }
  episode->task = *task;
  TOUCHSTONE_ASSIGN(episode->text,
                    texts_.Get(*episode->task, episode->spec.size, episode->spec.interface_name, episode->spec.device));
  episode->id = record.id;
  episode->request = record.request;
  episode->opened = record.opened;
  return std::shared_ptr<const Episode>(std::move(episode));
}

Result<std::vector<Exemplar>> EpisodeEnvironment::ShownIn(const SessionSpec& spec) {
  Selection selection;
  for (const ShownRollout& shown : spec.exemplars) {
    selection.items.push_back({0, shown.rollout, shown.score, shown.probability});
  }
  return Exemplars(selection);
}

// In the background only, as Unload is: so a session that is not in memory has no other object that still writes.
Result<std::shared_ptr<Session>> EpisodeEnvironment::Load(const std::string& id) {
  if (auto session = sessions_.Find(id)) return session;
  TOUCHSTONE_ASSIGN(const std::optional<SessionRecord> record, store_->FindSession(id));
  if (!record) return Error(ErrorCode::kNotFound, "session: no '" + id + "'");
  TOUCHSTONE_ASSIGN(const std::shared_ptr<const Episode> episode, EpisodeOf(*record));
  TOUCHSTONE_ASSIGN(const std::vector<RolloutRecord> rollouts, store_->RolloutsOf(id));
  auto session = std::make_shared<Session>(episode, std::chrono::steady_clock::now());
  bool open = record->closed == UnixMicros(0);
  for (const RolloutRecord& rollout : rollouts) {
    const Taken taken(rollout);
    session->Advance(taken, std::chrono::steady_clock::now());
    open = open && taken.why_ended.empty();
  }
  if (open) return sessions_.AddLoaded(std::move(session));
  session->Close(record->why_closed);  // unless its last rollout has ended it
  return session;
}

void EpisodeEnvironment::Close(const std::string& id, Done<bool> done) {
  if (const auto session = sessions_.Find(id)) {
    if (!session->Close("close")) return done(false);
    if (const auto running = session->InFlight()) Cancel(*running);
    sessions_.Remove(id, "close");
    if (store_ == nullptr) return done(true);
    return CloseInStore(id, "close", std::move(done));
  }
  if (store_ == nullptr) {
    if (sessions_.WhyEnded(id)) return done(false);
    return done(Error(ErrorCode::kNotFound, "session: no '" + id + "'"));
  }
  background_.Post([this, id, done = std::move(done), token = activity_.Start()]() mutable {
    const auto session = Load(id);
    if (!session.ok()) return done(session.error());
    if (!(*session)->Close("close")) return done(false);
    sessions_.Remove(id, "close");
    CloseInStore(id, "close", std::move(done));
  });
}

void EpisodeEnvironment::CloseInStore(const std::string& id, const std::string& why, Done<bool> done) {
  store_->CloseSession(id, Now(), why,
                       [done = std::move(done), token = activity_.Start()](const Result<uint64_t>& written) {
                         if (!written.ok()) return done(written.error());
                         done(true);
                       });
}

bool EpisodeEnvironment::Cancel(const RequestKey& key) { return evaluations_.Cancel(key); }

Result<Selection> EpisodeEnvironment::Sample(const SelectionRequest& request) {
  if (selector_ == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "this environment keeps no rollouts that could be drawn");
  }
  if (const auto task = library_->FindTask(request.task); !task.ok()) return task.error();
  return selector_->Select(request);
}

Result<std::vector<Exemplar>> EpisodeEnvironment::Exemplars(const Selection& selection) {
  std::vector<Exemplar> exemplars;
  for (const Selected& item : selection.items) {
    if (store_ == nullptr) return Error(ErrorCode::kInvalidArgument, "this environment keeps no rollouts");
    TOUCHSTONE_ASSIGN(RolloutRecord record, store_->Read(item.id));
    exemplars.push_back({item.id, std::move(record.source), item.score, item.probability});
  }
  return exemplars;
}

size_t EpisodeEnvironment::CloseIdle(std::chrono::steady_clock::time_point now) {
  const std::vector<Sessions::Closed> closed = sessions_.CloseIdle(now - options_.idle_limit, Now());
  if (store_ == nullptr) return closed.size();
  // Where the store refuses, the session is open again after a restart.
  for (const Sessions::Closed& session : closed) CloseInStore(session.id, session.why, [](const Result<bool>&) {});
  background_.Post([this, since = now - kKeepInMemory, token = activity_.Start()] { sessions_.Unload(since); });
  return closed.size();
}

}  // namespace touchstone

#ifndef TOUCHSTONE_ENV_EPISODE_ENVIRONMENT_H_
#define TOUCHSTONE_ENV_EPISODE_ENVIRONMENT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/work_thread.h"
#include "env/env.h"
#include "env/episode/activity.h"
#include "env/episode/answers.h"
#include "env/episode/code_block.h"
#include "env/episode/library.h"
#include "env/episode/replies.h"
#include "env/episode/sessions.h"
#include "env/episode/task_text.h"

namespace touchstone {

// Environment (env.h). A request goes through three places: the caller's thread checks it and finds its session; a
// slot's thread brings the result and renders the reply; the store's thread sends the reply once the record is durable.
// What has to be read from the store first is read in the background.
class EpisodeEnvironment final : public Environment {
 public:
  EpisodeEnvironment(EnvironmentOptions options, std::unique_ptr<const Library> library, Evaluations& evaluations,
                     RolloutStore* store, RolloutSelector* selector);
  ~EpisodeEnvironment() override;

  // Takes up the sessions that are open in the store.
  Status Restore();

  using Environment::Reset;
  using Environment::Score;
  using Environment::Step;
  void Reset(ResetRequest request, Done<ResetReply> done) override;
  void Step(StepRequest request, Done<StepReply> done) override;
  void Score(ScoreRequest request, Done<ScoreReply> done) override;
  void Validate(ValidateRequest request, Done<ValidateReply> done) override;
  void Close(const std::string& session, Done<bool> done) override;
  bool Cancel(const RequestKey& key) override;
  Result<std::optional<StepReply>> FindStep(const RequestKey& key) override;
  Result<std::optional<ScoreReply>> FindScore(const RequestKey& key) override;
  Result<Selection> Sample(const SelectionRequest& request) override;
  Result<std::vector<Exemplar>> Exemplars(const Selection& selection) override;
  size_t CloseIdle(std::chrono::steady_clock::time_point now) override;
  size_t open_sessions() const override { return sessions_.size(); }
  std::vector<std::string> tasks() const override { return library_->tasks(); }
  std::vector<std::string> methods() const override { return library_->methods(); }

 private:
  struct StepWork;
  struct ScoreWork;
  struct ValidateWork;

  // Resets (environment.cc).
  void OpenEpisode(const ResetRequest& request, const Activity::Token& token);
  Result<std::optional<ResetReply>> FindReset(const RequestKey& key);
  Result<std::shared_ptr<const Episode>> Resolve(const ResetRequest& request);
  Result<std::shared_ptr<const Episode>> EpisodeOf(const SessionRecord& record);
  Result<std::vector<Exemplar>> ShownIn(const SessionSpec& spec);
  Result<std::shared_ptr<Session>> Load(const std::string& id);
  void CloseInStore(const std::string& id, const std::string& why, Done<bool> done);

  // Steps (step.cc), in this order.
  void BeginStep(const std::shared_ptr<StepWork>& work);
  void BeginFromStore(const std::shared_ptr<StepWork>& work);
  void TryStep(const std::shared_ptr<StepWork>& work, std::shared_ptr<Session> session);
  void EvaluateStep(const std::shared_ptr<StepWork>& work);
  void CommitStep(const std::shared_ptr<StepWork>& work, EvalResult result);
  void FinishStep(const std::shared_ptr<StepWork>& work, Result<StepReply> reply);

  // Scores and validations (score.cc), in this order.
  void BeginScore(const std::shared_ptr<ScoreWork>& work);
  void CommitScore(const std::shared_ptr<ScoreWork>& work, EvalResult result);
  Status PrepareValidation(ValidateWork& work);
  Result<std::optional<ValidateReply>> FindValidation(const RequestKey& key);
  void BeginValidation(const std::shared_ptr<ValidateWork>& work);

  // What all evaluations have in common (evaluate.cc).
  struct Candidate {
    RequestKey key;
    const SessionSpec& spec;
    std::shared_ptr<const Task> task;
    std::string source;
    std::chrono::milliseconds deadline{0};
    int priority = 0;
  };
  Status Submit(Candidate candidate, std::function<void(Result<EvalResult>)> done);
  void Append(RolloutRecord record, RolloutStore::Done done);

  const EnvironmentOptions options_;
  const std::unique_ptr<const Library> library_;
  Evaluations& evaluations_;
  RolloutStore* const store_;        // or null
  RolloutSelector* const selector_;  // or null
  TaskTexts texts_;
  mutable Sessions sessions_;
  Answers answers_;
  Activity activity_;
  WorkThread background_;  // last: its thread uses the others
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_ENVIRONMENT_H_

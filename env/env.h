// Start here: the environment. reset() opens an episode on a task, step() judges a candidate.
//
//   messages.h     what is asked and answered
//   evaluations.h  the seam to what runs evaluations
//   episode/       session, observation, feedback, extraction of code from a model's text
//   serve/         the same over ZeroMQ: wire, scheduler, server; client.h is its other end
//   cli/           the program `touchstone`
#ifndef TOUCHSTONE_ENV_ENV_H_
#define TOUCHSTONE_ENV_ENV_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/evaluations.h"
#include "env/messages.h"
#include "rollout/rollout.h"

namespace touchstone {

struct EnvironmentOptions {
  std::string task_folder;                // empty: DefaultTaskFolder()
  std::string method_folder;              // empty: configs/methods beside the program
  std::chrono::seconds idle_limit{3600};  // a session without a step for this long is closed, and says so
  size_t max_sessions = 100'000;
  size_t max_source_bytes = size_t{1} << 20;
};

// Thread-safe; nothing blocks on an evaluation or a disk but the waiting forms. Each call answers exactly once: by its
// callback, which runs on another thread or on the caller's and must not block. An Error changes nothing: bad input
// (kInvalidArgument, names field and limit), no such session (kNotFound), a session that has ended (kClosed, says why),
// a step of it in flight or another turn than the next (kConflict), queue full (kExhausted), shutting down
// (kUnavailable). A request whose key was answered before gets the same answer again; one whose key is being worked on
// gets the same answer when it is there.
class Environment {
 public:
  template <typename T>
  using Done = std::function<void(Result<T>)>;

  // All but `options` outlive it. Without a store nothing is kept: sessions end with the process, and only the last
  // answers are known when a request comes again. Without a selector (of that store) there are no exemplars.
  static Result<std::unique_ptr<Environment>> Create(EnvironmentOptions options, Evaluations& evaluations,
                                                     RolloutStore* store, RolloutSelector* selector);
  virtual ~Environment() = default;  // waits for what is in flight

  virtual void Reset(ResetRequest request, Done<ResetReply> done) = 0;
  virtual void Step(StepRequest request, Done<StepReply> done) = 0;
  virtual void Score(ScoreRequest request, Done<ScoreReply> done) = 0;
  virtual void Validate(ValidateRequest request, Done<ValidateReply> done) = 0;
  virtual void Close(const std::string& session, Done<bool> done) = 0;  // false: was closed before
  virtual bool Cancel(const RequestKey& key) = 0;

  // The same, waiting: for use in process, from one's own thread.
  Result<ResetReply> Reset(ResetRequest request);
  Result<StepReply> Step(StepRequest request);
  Result<ScoreReply> Score(ScoreRequest request);

  // What was answered to this key before, from the store. None: nothing is known, or it is still being worked on.
  virtual Result<std::optional<StepReply>> FindStep(const RequestKey& key) = 0;
  virtual Result<std::optional<ScoreReply>> FindScore(const RequestKey& key) = 0;

  virtual Result<Selection> Sample(const SelectionRequest& request) = 0;
  // The candidates of a selection, as a prompt shows them.
  virtual Result<std::vector<Exemplar>> Exemplars(const Selection& selection) = 0;

  // Closes sessions that were idle for too long. Call it from time to time.
  virtual size_t CloseIdle(std::chrono::steady_clock::time_point now) = 0;
  virtual size_t open_sessions() const = 0;
  virtual std::vector<std::string> tasks() const = 0;
  virtual std::vector<std::string> methods() const = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_ENV_H_

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "base/cpu_model.h"
#include "base/program_folder.h"
#include "base/utc.h"
#include "reward/judge/judge_process.h"
#include "reward/judge/judge_wire.h"
#include "reward/reward.h"
#include "sandbox/box/spawner.h"

namespace touchstone {
namespace {

constexpr int kJudgeAttempts = 2;

std::vector<int> OnlineCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// The status that a build which made no artifact means for the candidate.
EvalStatus StatusOfBuild(BuildOutcome::Kind kind) {
  switch (kind) {
    case BuildOutcome::Kind::kTimeout:
      return EvalStatus::kTimeout;
    case BuildOutcome::Kind::kOutOfMemory:
      return EvalStatus::kOutOfMemory;
    default:
      return EvalStatus::kCompileError;
  }
}

class SlotEvaluator final : public Evaluator {
 public:
  explicit SlotEvaluator(EvaluatorOptions options) : options_(std::move(options)) {}

  // Starts a spawner, and all that hangs on it.
  Status Launch() {
    judge_.reset();
    pool_.reset();
    spawner_.reset();
    TOUCHSTONE_ASSIGN(spawner_, Spawner::Launch(options_.program_folder + "/touchstone-spawner"));
    TOUCHSTONE_ASSIGN(UniqueFd connection, spawner_->NewConnection());
    TOUCHSTONE_ASSIGN(pool_, BuildPool::Create(Spawner::Adopt(std::move(connection)), options_.build));
    return {};
  }

  // A spawner that dies takes all boxes with it: then everything is started and done once more.
  Result<EvalResult> Evaluate(const EvalRequest& request) override {
    if (!SpawnerLives()) TOUCHSTONE_RETURN_IF_ERROR(Launch());
    auto result = EvaluateOnce(request);
    const bool failed = result.ok() ? result->status == EvalStatus::kEnvironmentError
                                    : result.error().code() == ErrorCode::kUnavailable;
    if (!failed || SpawnerLives()) return result;
    TOUCHSTONE_RETURN_IF_ERROR(Launch());
    return EvaluateOnce(request);
  }

 private:
  bool SpawnerLives() { return spawner_ && pool_ && spawner_->NewConnection().ok(); }

  Result<EvalResult> EvaluateOnce(const EvalRequest& request) {
    if (request.task == nullptr) return Error(ErrorCode::kInvalidArgument, "task: none was given");
    if (request.interface_name != "cpp") {
      return Error(ErrorCode::kInvalidArgument, "interface: '" + request.interface_name + "' is not 'cpp'");
    }
    JudgeRequest order;
    TOUCHSTONE_ASSIGN(order.task_yaml, ReadTaskText(*request.task));
    order.task_name = request.task->source_file;
    order.size = request.size;
    order.profile = request.profile;
    order.key = request.key ? *request.key : NewSecretKey();
    order.between_start_sd = options_.between_start_sd;
    order.head = Head(request);

    TOUCHSTONE_ASSIGN(const BuildOutcome built, Build(*request.task, request.source));
    order.head.budget_ms["compile"] = std::chrono::duration<double, std::milli>(built.wall).count();
    order.head.artifact_hash = built.artifact_hash;
    order.head.environment["toolchain"] = pool_->toolchain();
    if (built.kind != BuildOutcome::Kind::kBuilt) return NotBuilt(order.head, built);
    order.artifact = built.artifact.get();

    BuildOutcome baseline;
    if (request.baseline_source) {
      TOUCHSTONE_ASSIGN(baseline, Build(*request.task, *request.baseline_source));
      if (baseline.kind != BuildOutcome::Kind::kBuilt) {
        return Error(ErrorCode::kInvalidArgument, "baseline: it does not compile:\n" + baseline.log);
      }
      order.baseline_artifact = baseline.artifact.get();
    }
    return Judge(order);
  }

  static Result<std::string> ReadTaskText(const Task& task) {
    std::ifstream file(task.source_file, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file || text.empty()) {
      return Error(ErrorCode::kNotFound, "the file of task '" + task.id + "' cannot be read: " + task.source_file);
    }
    if (HashHex(text) != task.content_hash) {
      return Error(ErrorCode::kCorrupt, "the file of task '" + task.id + "' has changed since it was loaded");
    }
    return text;
  }

  Result<BuildOutcome> Build(const Task& task, const std::string& source) {
    BuildRequest build;
    build.source = source;
    build.header = RenderCppHeader(task);
    if (task.policy.openmp) build.extra_flags.push_back("-fopenmp");
    return pool_->Build(build);
  }

  EvalResult Head(const EvalRequest& request) const {
    EvalResult head;
    const SecretKey random = NewSecretKey();
    head.id = ToHex(random).substr(0, 24);
    head.task = request.task->id;
    head.task_hash = request.task->content_hash;
    head.interface_name = request.interface_name;
    head.candidate_hash = HashHex(request.source);
    head.baseline = request.baseline_source ? HashHex(*request.baseline_source) : "reference";
    head.profile = request.profile.name;
    head.record_time = UtcNow();
    utsname host{};
    ::uname(&host);
    head.environment["host"] = host.nodename;
    head.environment["kernel"] = host.release;
    head.environment["cpu"] = CpuModel().value_or("unknown");
    std::string cpus;
    for (const int cpu : options_.cpus) cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
    head.environment["cpus"] = cpus;
    head.environment["size"] = request.size;
    return head;
  }

  static EvalResult NotBuilt(EvalResult head, const BuildOutcome& built) {
    head.status = StatusOfBuild(built.kind);
    head.phase = "compile";
    head.reason = std::string("the build ended with ") + std::string(ToString(built.kind));
    if (!built.diagnostics.empty()) {
      const Diagnostic& first = built.diagnostics.front();
      head.reason = first.file + ":" + std::to_string(first.line) + ": " + first.severity + ": " + first.message;
    }
    head.diagnostics = built.log;
    return head;
  }

  // A judge that dies is replaced once; then the environment is to blame, and nothing was lost but time.
  Result<EvalResult> Judge(const JudgeRequest& order) {
    std::string why;
    for (int attempt = 0; attempt < kJudgeAttempts; ++attempt) {
      if (!judge_) {
        TOUCHSTONE_ASSIGN(UniqueFd connection, spawner_->NewConnection());
        JudgeOptions options{options_.program_folder, options_.cpus, options_.minimum_level,
                             options_.disable_for_tests};
        TOUCHSTONE_ASSIGN(judge_, JudgeProcess::Start(options, std::move(connection)));
      }
      auto result = judge_->Evaluate(order);
      if (result.ok() || result.error().code() != ErrorCode::kUnavailable) return result;
      why = result.error().message();
      judge_.reset();
    }
    EvalResult lost = order.head;
    lost.status = EvalStatus::kEnvironmentError;
    lost.reason = why;
    return lost;
  }

  EvaluatorOptions options_;
  std::optional<Spawner> spawner_;
  std::unique_ptr<BuildPool> pool_;
  std::unique_ptr<JudgeProcess> judge_;
};

}  // namespace

Result<std::unique_ptr<Evaluator>> Evaluator::Create(EvaluatorOptions options) {
  if (options.program_folder.empty()) options.program_folder = ProgramFolder();
  if (options.cpus.empty()) options.cpus = OnlineCpus();
  options.build.minimum_level = options.minimum_level;
  auto evaluator = std::make_unique<SlotEvaluator>(std::move(options));
  TOUCHSTONE_RETURN_IF_ERROR(evaluator->Launch());
  return std::unique_ptr<Evaluator>(std::move(evaluator));
}

}  // namespace touchstone

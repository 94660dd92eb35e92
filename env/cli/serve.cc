// touchstone serve: the environment over ZeroMQ, until SIGTERM. touchstone keys: CURVE keys for servers that other
// machines may reach.
#include <CLI/CLI.hpp>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/cpu_model.h"
#include "base/mutex.h"
#include "env/cli/command.h"
#include "env/cli/slot.h"
#include "env/env.h"
#include "env/serve/config.h"
#include "env/serve/curve.h"
#include "env/serve/metrics.h"
#include "env/serve/server.h"
#include "env/serve/slot_probe.h"
#include "reward/presets/preset.h"
#include "rollout/rollout.h"

namespace touchstone::cli {
namespace {

constexpr char kExamples[] = R"(
Examples:
  touchstone serve --set store.folder=rollouts
  touchstone serve configs/server/node.yaml --set slots.count=4
  touchstone serve --list                       every option and its value

It prints its addresses and then serves until SIGTERM or SIGINT, which wait for what runs (server.drain_ms).
Exit codes: 0 ended when it was asked to; 2 bad options; 3 the environment failed.)";

std::vector<int> UsableCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

wire::DescribeReply Facts(const std::map<std::string, std::string>& device) {
  wire::DescribeReply facts;
  facts.version = TOUCHSTONE_VERSION;
  facts.device = device;
  facts.selectors = {"uniform", "top_k", "cuda_l1"};
  for (const RewardPreset& preset : RewardPresets()) {
    facts.rewards.push_back(
        {std::string(preset.name), preset.low, preset.high, std::string(preset.formula), std::string(preset.source)});
  }
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(DefaultConfigFolder() + "/measurement", ignored)) {
    if (file.path().extension() == ".yaml") facts.profiles.push_back(file.path().stem().string());
  }
  std::sort(facts.profiles.begin(), facts.profiles.end());
  return facts;
}

// SIGTERM and SIGINT, as something to wait for. The handler only writes; programs that are started keep their defaults.
class EndSignal {
 public:
  EndSignal() {
    event_ = ::eventfd(0, EFD_CLOEXEC);
    struct sigaction action {};
    action.sa_handler = [](int) {
      const uint64_t one = 1;
      (void)!::write(event_, &one, sizeof(one));
    };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTERM, &action, nullptr);
    ::sigaction(SIGINT, &action, nullptr);
  }
  void Wait() const {
    uint64_t count = 0;
    while (::read(event_, &count, sizeof(count)) < 0 && errno == EINTR) {
    }
  }

 private:
  static inline int event_ = -1;
};

// Where slots report to: the server's metrics while there is a server.
class MetricsSink {
 public:
  void Set(Metrics* metrics) {
    const MutexLock lock(mutex_);
    metrics_ = metrics;
  }
  void Observe(const JobReport& report) {
    const MutexLock lock(mutex_);
    if (metrics_ != nullptr) metrics_->Observe(report);
  }
  void CountEnvironmentFault(const std::string& slot) {
    const MutexLock lock(mutex_);
    if (metrics_ != nullptr) metrics_->CountEnvironmentFault(slot);
  }

 private:
  Mutex mutex_;
  Metrics* metrics_ TOUCHSTONE_GUARDED_BY(mutex_) = nullptr;
};

// What a policy may know of the machine that it writes for.
std::map<std::string, std::string> DeviceFactsOf(const SlotPlan& plan, const std::vector<SlotSpec>& slots) {
  size_t cores = 0;
  for (const SlotSpec& slot : slots) cores = std::max(cores, slot.cpus.size());
  return {{"device", "cpu"},
          {"cpu", CpuModel().value_or("unknown")},
          {"cores", std::to_string(cores)},
          {"isolation", plan.level}};
}

Result<std::unique_ptr<Scheduler>> MakeScheduler(const SlotPlan& plan, const std::shared_ptr<MetricsSink>& metrics) {
  SchedulerOptions options;
  TOUCHSTONE_ASSIGN(options.slots, PlanSlots(plan, UsableCpus()));
  options.device_facts = DeviceFactsOf(plan, options.slots);
  TOUCHSTONE_ASSIGN(options.probe, SlotProbe::Load());
  options.make_evaluator = [plan](const SlotSpec& slot) {
    SlotOptions one;
    one.level = plan.level;
    one.cpus = slot.cpus;
    one.cache_folder = plan.cache_folder;
    one.calibration_file = plan.calibration_file;
    return MakeEvaluator(one);
  };
  options.max_waiting = plan.max_waiting;
  options.on_finished = [metrics](const JobReport& report) { metrics->Observe(report); };
  options.on_environment_fault = [metrics](const std::string& slot) {
    spdlog::warn("an evaluation broke slot {}", slot);
    metrics->CountEnvironmentFault(slot);
  };
  return Scheduler::Create(std::move(options));
}

ExitCode Serve(const ServeConfig& config) {
  const EndSignal end;
  std::unique_ptr<RolloutStore> store;
  std::unique_ptr<RolloutSelector> selector;
  if (!config.store.folder.empty()) {
    auto opened = RolloutStore::Open(config.store);
    if (!opened.ok()) return Fail(opened.error());
    store = *std::move(opened);
    auto made = RolloutSelector::Create(*store);
    if (!made.ok()) return Fail(made.error());
    selector = *std::move(made);
  }
  const auto metrics = std::make_shared<MetricsSink>();
  auto scheduler = MakeScheduler(config.slots, metrics);
  if (!scheduler.ok()) return Fail(scheduler.error());
  auto environment = Environment::Create(config.environment, **scheduler, store.get(), selector.get());
  if (!environment.ok()) return Fail(environment.error());

  ServerParts parts{environment->get(), store.get(), scheduler->get(), config.store.folder,
                    Facts((*scheduler)->DeviceFacts())};
  auto server = Server::Start(config.server, std::move(parts));
  if (!server.ok()) return Fail(server.error());
  metrics->Set(&(*server)->metrics());
  std::printf("endpoint %s\nhealth %s\nmetrics %s\nstore %s\nready\n", (*server)->endpoint().c_str(),
              (*server)->health_endpoint().c_str(), config.server.metrics_address.c_str(), config.store.folder.c_str());
  std::fflush(stdout);

  end.Wait();
  const bool drained = (*server)->Drain(config.drain);
  metrics->Set(nullptr);
  server->reset();
  // An evaluation that did not end in time would hold everything up; its boxes die with this process.
  if (!drained) std::_Exit(kExitSuccess);
  return kExitSuccess;
}

ExitCode List(const ServeConfig& config) {
  for (const auto& [key, value] : ListOptions(config)) std::printf("%s=%s\n", key.c_str(), value.c_str());
  return kExitSuccess;
}

ExitCode NewKeys(const std::string& path) {
  const KeyPair pair = NewKeyPair();
  const Status written = WriteKeyPair(path, pair);
  if (!written.ok()) return Fail(written.error());
  std::printf("%s\n", pair.public_key.c_str());
  return kExitSuccess;
}

}  // namespace

void AddServeCommand(CLI::App& program, Action& action) {
  struct Arguments {
    std::string file;
    std::vector<std::string> settings;
    bool list = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand("serve", "The environment over ZeroMQ, for trainers");
  command->footer(kExamples);
  command->add_option("config", arguments->file, "YAML file with options (docs/operations.md)");
  command->add_option("--set", arguments->settings, "One option: section.key=value; may be given again")
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--list", arguments->list, "Print every option and its value, and end");
  command->callback([arguments, &action] {
    action = [arguments]() -> ExitCode {
      const auto config = LoadServeConfig(arguments->file, arguments->settings);
      if (!config.ok()) return Fail(config.error());
      return arguments->list ? List(*config) : Serve(*config);
    };
  });
}

void AddKeysCommand(CLI::App& program, Action& action) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = program.add_subcommand("keys", "CURVE keys for servers that other machines may reach");
  command->require_subcommand(1);
  CLI::App* make = command->add_subcommand("new", "Write a new key pair and print the public key");
  make->add_option("file", *path, "Where to write it; only its owner may read it")->required();
  make->callback([path, &action] { action = [path] { return NewKeys(*path); }; });
}

}  // namespace touchstone::cli

// The options of `touchstone serve`: plain structs, filled from configs/server/*.yaml and from --set key=value.
#ifndef TOUCHSTONE_ENV_SERVE_CONFIG_H_
#define TOUCHSTONE_ENV_SERVE_CONFIG_H_

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/env.h"
#include "env/serve/scheduler.h"
#include "env/serve/server.h"
#include "rollout/store.h"

namespace touchstone {

struct SlotPlan {
  int count = 0;                 // timed slots; 0: as many as the cores allow
  int cores_per_slot = 2;        // one for the judge, the others for the side in turn
  int untimed = 0;               // slots that take only work without timing (profile `check`)
  int untimed_cores = 0;         // cores that they share; no timed slot has them. 0: one for each
  std::vector<int> cpus;         // what may be used; empty: all that this process may use
  std::string level = "full";    // isolation that the host must give
  std::string cache_folder;      // of built artifacts; empty: as `touchstone eval`
  std::string calibration_file;  // empty: as `touchstone eval`
  size_t max_waiting = 4096;     // evaluations
};

struct ServeConfig {
  ServerOptions server;
  EnvironmentOptions environment;
  StoreOptions store;  // no folder: nothing is kept
  SlotPlan slots;
  std::chrono::milliseconds drain{30'000};  // how long SIGTERM waits for what runs
};

// `file` is read when it is not empty; then each of `settings` ("server.endpoint=tcp://…") is applied. kInvalidArgument
// and kNotFound name file, line and key: "node.yaml:3: slots.count: is not a number".
Result<ServeConfig> LoadServeConfig(const std::string& file, const std::vector<std::string>& settings);
Result<ServeConfig> ParseServeConfig(const std::string& yaml, const std::string& file_for_errors,
                                     const std::vector<std::string>& settings);

// A line "key = value" for each option, as the configuration has it: what documents and tests go by.
std::vector<std::pair<std::string, std::string>> ListOptions(const ServeConfig& config);

// Divides `available` (or plan.cpus) among the slots: disjoint for timed ones. A host with fewer cores than one slot
// wants has one slot with all of them. kInvalidArgument: more was asked for than there is.
Result<std::vector<SlotSpec>> PlanSlots(const SlotPlan& plan, const std::vector<int>& available);

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_CONFIG_H_

// How fast boxes are: `bench_box [--json FILE] [--rounds N]` writes [{id, value, unit, reach, ok, detail}] to the file
// ("-": standard output). `reach` is what we want at most; exit code 1 when it is not reached.
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sandbox/sandbox.h"

namespace touchstone {
namespace {

using std::chrono::seconds;

double At(std::vector<double> values, double quantile) {
  std::sort(values.begin(), values.end());
  return values.empty() ? -1 : values[static_cast<size_t>(quantile * static_cast<double>(values.size() - 1))];
}

template <typename Body>
double Microseconds(Body body) {
  const auto begin = RawClock::now();
  body();
  return ToMicroseconds(RawClock::now() - begin);
}

nlohmann::json Spread(const std::vector<double>& values) {
  return {{"p10", At(values, 0.1)}, {"p50", At(values, 0.5)}, {"p90", At(values, 0.9)}, {"p99", At(values, 0.99)}};
}

Policy SystemPolicy() {
  Policy policy;
  for (const char* folder : {"/usr", "/lib", "/lib64", "/bin"}) policy.binds.push_back({folder, "", true});
  return policy;
}

bool RunInBox(Spawner& spawner, const Policy& policy) {
  Program program;
  program.argv = {"/bin/true"};
  auto box = spawner.Start(policy, Limits(), program);
  if (!box.ok()) return false;
  const auto outcome = box->Wait(seconds(10));
  return outcome.ok() && outcome->kind == Outcome::Kind::kExited && outcome->code == 0;
}

// The same namespaces and the same view of files, and none of the limits.
bool RunInBubblewrap() {
  const char* const argv[] = {"bwrap",         "--unshare-all", "--die-with-parent",
                              "--new-session", "--cap-drop",    "ALL",
                              "--ro-bind",     "/usr",          "/usr",
                              "--ro-bind",     "/lib",          "/lib",
                              "--ro-bind-try", "/lib64",        "/lib64",
                              "--ro-bind",     "/bin",          "/bin",
                              "--proc",        "/proc",         "--dev",
                              "/dev",          "--tmpfs",       "/tmp",
                              "--clearenv",    "/bin/true",     nullptr};
  pid_t pid = 0;
  char* const environment[] = {nullptr};
  if (::posix_spawn(&pid, "/usr/bin/bwrap", nullptr, nullptr, const_cast<char* const*>(argv), environment) != 0) {
    return false;
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// From the request until the box is seen gone, not only until its program has ended.
nlohmann::json BenchStart(Spawner& spawner, int rounds) {
  const Policy policy = SystemPolicy();
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> back_to_back;
  bool good = true;
  bool bubblewrap = RunInBubblewrap();
  for (int round = 0; round < rounds; ++round) {
    ours.push_back(Microseconds([&] { good = RunInBox(spawner, policy) && good; }) / 1e3);
    if (bubblewrap) theirs.push_back(Microseconds([&] { bubblewrap = RunInBubblewrap(); }) / 1e3);
  }
  for (int round = 0; round < rounds; ++round) {
    back_to_back.push_back(Microseconds([&] { good = RunInBox(spawner, policy) && good; }) / 1e3);
  }
  constexpr double kReachMs = 10;
  const double median = At(ours, 0.5);
  return {
      {"id", "box_start_ms"},
      {"value", median},
      {"unit", "ms"},
      {"reach", kReachMs},
      {"ok", good && bubblewrap && median <= kReachMs && median < At(theirs, 0.5)},
      {"detail", {{"box_ms", Spread(ours)}, {"bwrap_ms", Spread(theirs)}, {"back_to_back_ms", Spread(back_to_back)}}}};
}

// A busy box on another core.
void BenchFreezer(Spawner& spawner, int rounds, nlohmann::json& detail) {
  Program program;
  program.argv = {"/usr/bin/sha256sum", "/dev/zero"};
  Limits limits;
  limits.cpus = {static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)) - 1};
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  ::sched_setaffinity(0, sizeof(first), &first);
  std::vector<double> freezes;
  std::vector<double> thaws;
  auto box = spawner.Start(SystemPolicy(), limits, program);
  for (int round = 0; box.ok() && round < rounds * 5; ++round) {
    bool good = true;
    freezes.push_back(Microseconds([&] { good = box->Freeze().ok(); }));
    thaws.push_back(Microseconds([&] { good = box->Thaw().ok() && good; }));
    if (!good) return;
    ::usleep(200);
  }
  detail["freeze_us"] = Spread(freezes);
  detail["thaw_us"] = Spread(thaws);
}

}  // namespace
}  // namespace touchstone

int main(int argc, char** argv) {
  int rounds = 200;
  std::string file = "-";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--json") file = argv[i + 1];
    if (std::string(argv[i]) == "--rounds") rounds = std::max(1, std::atoi(argv[i + 1]));
  }
  auto spawner = touchstone::Spawner::Launch();
  if (!spawner.ok()) {
    std::fprintf(stderr, "%s\n", spawner.error().ToString().c_str());
    return 2;
  }
  nlohmann::json row = touchstone::BenchStart(*spawner, rounds);
  touchstone::BenchFreezer(*spawner, rounds, row["detail"]);
  const std::string text = nlohmann::json::array({row}).dump(1) + "\n";
  if (file == "-") {
    std::fputs(text.c_str(), stdout);
  } else {
    std::ofstream(file) << text;
  }
  return row["ok"] ? 0 : 1;
}

// How fast boxes are. Prints one JSON row for each measurement: {id, value, unit, reach, ok, detail}; `reach` is what
// we want at most, `ok` says whether it is reached. `bench_box [ROUNDS]`, 200 by default.
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

void Print(const char* id, double value, const char* unit, double reach, const std::string& detail) {
  const nlohmann::json row = {
      {"id", id},        {"value", value}, {"unit", unit}, {"reach", reach}, {"ok", value >= 0 && value <= reach},
      {"detail", detail}};
  std::printf("%s\n", row.dump().c_str());
}

std::string Spread(const std::vector<double>& values, const char* unit) {
  char text[96];
  std::snprintf(text, sizeof(text), "p10 %.2f, p50 %.2f, p90 %.2f, p99 %.2f %s", At(values, 0.1), At(values, 0.5),
                At(values, 0.9), At(values, 0.99), unit);
  return text;
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

void BenchStart(Spawner& spawner, int rounds) {
  const Policy policy = SystemPolicy();
  std::vector<double> ours;
  std::vector<double> theirs;
  bool good = true;
  bool bubblewrap = RunInBubblewrap();
  for (int round = 0; round < rounds; ++round) {
    ours.push_back(Microseconds([&] { good = RunInBox(spawner, policy) && good; }) / 1e3);
    if (bubblewrap) theirs.push_back(Microseconds([&] { bubblewrap = RunInBubblewrap(); }) / 1e3);
  }
  Print("box_start_ms", good ? At(ours, 0.5) : -1, "ms", 10, "start to seen gone, /bin/true: " + Spread(ours, "ms"));
  Print("box_start_over_bwrap", good && bubblewrap ? At(ours, 0.5) / At(theirs, 0.5) : -1, "ratio", 1,
        bubblewrap ? "bwrap interleaved: " + Spread(theirs, "ms") : "bwrap does not run here");
  std::vector<double> sustained;
  for (int round = 0; round < rounds; ++round) {
    sustained.push_back(Microseconds([&] { good = RunInBox(spawner, policy) && good; }) / 1e3);
  }
  Print("box_start_sustained_ms", good ? At(sustained, 0.5) : -1, "ms", 20, "back to back: " + Spread(sustained, "ms"));
}

void BenchFreezer(Spawner& spawner, int rounds) {
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
  Print("box_freeze_us", At(freezes, 0.5), "us", 100, "a busy box on another core: " + Spread(freezes, "us"));
  Print("box_thaw_us", At(thaws, 0.5), "us", 100, Spread(thaws, "us"));
}

}  // namespace
}  // namespace touchstone

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 200;
  auto spawner = touchstone::Spawner::Launch();
  if (!spawner.ok()) {
    std::fprintf(stderr, "%s\n", spawner.error().ToString().c_str());
    return 1;
  }
  touchstone::BenchStart(*spawner, rounds);
  touchstone::BenchFreezer(*spawner, rounds);
  return 0;
}

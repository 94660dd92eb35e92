// How fast rollouts become durable: `bench_store [--json FILE] [--seconds N] [--folder DISK]` writes
// [{id, value, unit, reach, ok, detail}] ("-": standard output); exit code 1 when `reach`, the least that we want, is
// missed. Beside it the same store with one transaction an append, and what one sync of the disk takes.
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "tests/bench/rollouts.h"

namespace touchstone {
namespace {

constexpr int kWriters = 8;
constexpr int kInFlight = 32;

struct Options {
  std::string file = "-";
  std::string disk = kBenchDisk;
  double seconds = 3;
};

double Seconds(RawClock::duration d) { return ToMicroseconds(d) / 1e6; }

// One writer: as many appends as fit into the time, at most kInFlight of them unanswered.
void WriteUntil(RolloutStore& store, int writer, RawClock::time_point end, std::atomic<uint64_t>& durable,
                std::atomic<uint64_t>& failed) {
  std::counting_semaphore<kInFlight> room(kInFlight);
  for (uint64_t i = 0; RawClock::now() < end; ++i) {
    room.acquire();
    store.Append(BenchRollout(i * kWriters + static_cast<uint64_t>(writer), "softmax", 1.5),
                 [&](const Result<uint64_t>& result) {
                   ++(result.ok() ? durable : failed);
                   room.release();
                 });
  }
  for (int i = 0; i < kInFlight; ++i) room.acquire();
}

// Of all threads, the kernel's part included.
double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Rate {
  double per_second = 0;
  double cpu_us_each = 0;
  uint64_t durable = 0;
  uint64_t failed = 0;
};

Result<Rate> Appends(const Options& options, size_t max_batch) {
  const BenchFolder folder(options.disk);
  StoreOptions store_options;
  store_options.folder = folder.path();
  store_options.max_batch = max_batch;
  TOUCHSTONE_ASSIGN(const std::unique_ptr<RolloutStore> store, RolloutStore::Open(store_options));
  std::atomic<uint64_t> durable{0};
  std::atomic<uint64_t> failed{0};
  const double cpu_begin = CpuSeconds();
  const auto begin = RawClock::now();
  const auto end =
      begin + std::chrono::duration_cast<RawClock::duration>(std::chrono::duration<double>(options.seconds));
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] { WriteUntil(*store, writer, end, durable, failed); });
  }
  for (std::thread& writer : writers) writer.join();
  // With those in flight at the end, and the time they took.
  const double count = std::max(1.0, static_cast<double>(durable));
  return Rate{count / Seconds(RawClock::now() - begin), 1e6 * (CpuSeconds() - cpu_begin) / count, durable, failed};
}

// Median time of a 4 KiB write and its sync.
double SyncMicroseconds(const std::string& disk) {
  const BenchFolder folder(disk);
  const UniqueFd fd(::open((folder.path() + "/sync").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::string page(4096, 'x');
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) {
    const auto begin = RawClock::now();
    if (::pwrite(fd.get(), page.data(), page.size(), i * 4096) < 0 || ::fdatasync(fd.get()) != 0) return -1;
    times.push_back(ToMicroseconds(RawClock::now() - begin));
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
}

Result<nlohmann::json> Bench(const Options& options) {
  constexpr double kReach = 20'000;
  TOUCHSTONE_ASSIGN(const Rate grouped, Appends(options, StoreOptions().max_batch));
  TOUCHSTONE_ASSIGN(const Rate single, Appends(options, 1));
  const bool whole = grouped.failed == 0 && single.failed == 0;
  return nlohmann::json{{"id", "store_appends_per_s"},
                        {"value", grouped.per_second},
                        {"unit", "1/s"},
                        {"reach", kReach},
                        {"ok", whole && grouped.per_second >= kReach},
                        {"detail",
                         {{"writers", kWriters},
                          {"in_flight_each", kInFlight},
                          {"durable", grouped.durable},
                          {"failed", grouped.failed + single.failed},
                          {"cpu_us_each", grouped.cpu_us_each},
                          {"one_transaction_each_per_s", single.per_second},
                          {"ratio", grouped.per_second / std::max(single.per_second, 1e-9)},
                          {"disk_sync_us", SyncMicroseconds(options.disk)}}}};
}

}  // namespace
}  // namespace touchstone

int main(int argc, char** argv) {
  touchstone::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--json") options.file = argv[i + 1];
    if (std::string(argv[i]) == "--folder") options.disk = argv[i + 1];
    if (std::string(argv[i]) == "--seconds") options.seconds = std::max(0.1, std::atof(argv[i + 1]));
  }
  const auto row = touchstone::Bench(options);
  if (!row.ok()) {
    std::fprintf(stderr, "%s\n", row.error().ToString().c_str());
    return 2;
  }
  const std::string text = nlohmann::json::array({*row}).dump(1) + "\n";
  if (options.file == "-") {
    std::fputs(text.c_str(), stdout);
  } else {
    std::ofstream(options.file) << text;
  }
  return (*row)["ok"] ? 0 : 1;
}

// How fast a contrastive pair is drawn: `bench_pair [--json FILE] [--rollouts N] [--folder DISK]` writes
// [{id, value, unit, reach, ok, detail}] ("-": standard output); exit code 1 when `reach`, the most that we want, is
// missed. All rollouts are of one task, the worst case. Beside it the draw without anything kept in memory: SQL over
// the same store.
#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "rollout/select/random.h"
#include "tests/bench/rollouts.h"

namespace touchstone {
namespace {

struct Options {
  std::string file = "-";
  std::string disk = kBenchDisk;
  uint64_t rollouts = 1'000'000;
};

constexpr char kTask[] = "softmax";

double Milliseconds(RawClock::duration d) { return ToMicroseconds(d) / 1e3; }

double At(std::vector<double> values, double quantile) {
  std::sort(values.begin(), values.end());
  return values.empty() ? -1 : values[static_cast<size_t>(quantile * static_cast<double>(values.size() - 1))];
}

// Scores as they come: many about 1, few far above.
Status Fill(const std::string& folder, uint64_t count) {
  StoreOptions options;
  options.folder = folder;
  options.max_batch = 8192;
  options.max_waiting = count;
  TOUCHSTONE_ASSIGN(const std::unique_ptr<RolloutStore> store, RolloutStore::Open(options));
  Random random(1, "scores");
  std::atomic<uint64_t> failed{0};
  for (uint64_t i = 0; i < count; ++i) {
    const double score = 0.5 + std::exp(2 * random.Unit() * random.Unit());
    auto done = [&failed](const Result<uint64_t>& result) { failed += result.ok() ? 0 : 1; };
    // Now and then in step with the disk, so that memory stays small.
    if (i % 65'536 == 0) {
      TOUCHSTONE_ASSIGN(const uint64_t sequence, store->Append(BenchRollout(i, kTask, score)));
      (void)sequence;
    } else {
      store->Append(BenchRollout(i, kTask, score), done);
    }
  }
  TOUCHSTONE_RETURN_IF_ERROR([&]() -> Status {
    const auto last = store->Append(BenchRollout(count, kTask, 1));
    if (!last.ok()) return last.error();
    return {};
  }());
  if (failed > 0) return Error(ErrorCode::kInternal, std::to_string(failed) + " appends failed");
  return {};
}

double ResidentMiB() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * 4096 / (1 << 20);
}

// What somebody would write who has the tables and no selector: bucket means of the whole task, two buckets by Eq. 1,
// one row of each.
double NaiveMilliseconds(const std::string& folder, uint64_t seed) {
  sqlite3* database = nullptr;
  sqlite3_open_v2((folder + "/rollouts.sqlite").c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  sqlite3_stmt* means = nullptr;
  sqlite3_prepare_v2(
      database,
      "SELECT CAST(score / 0.1 AS INT) AS bucket, avg(score), count(*) FROM rollouts WHERE task = ?1 AND "
      "score IS NOT NULL GROUP BY bucket",
      -1, &means, nullptr);
  sqlite3_stmt* member = nullptr;
  sqlite3_prepare_v2(database,
                     "SELECT id FROM rollouts WHERE task = ?1 AND score IS NOT NULL AND CAST(score / 0.1 AS INT) = ?2 "
                     "LIMIT 1 OFFSET ?3",
                     -1, &member, nullptr);
  const auto begin = RawClock::now();
  struct Bucket {
    int64_t number;
    double weight;
    int64_t count;
  };
  std::vector<Bucket> buckets;
  sqlite3_bind_text(means, 1, kTask, -1, SQLITE_STATIC);
  while (sqlite3_step(means) == SQLITE_ROW) {
    buckets.push_back(
        {sqlite3_column_int64(means, 0), std::exp(sqlite3_column_double(means, 1)), sqlite3_column_int64(means, 2)});
  }
  Random random(seed, "naive");
  for (int i = 0; i < 2 && !buckets.empty(); ++i) {
    double total = 0;
    for (const Bucket& bucket : buckets) total += bucket.weight;
    double rest = random.Unit() * total;
    size_t drawn = 0;
    while (drawn + 1 < buckets.size() && (rest -= buckets[drawn].weight) >= 0) ++drawn;
    sqlite3_reset(member);
    sqlite3_bind_text(member, 1, kTask, -1, SQLITE_STATIC);
    sqlite3_bind_int64(member, 2, buckets[drawn].number);
    sqlite3_bind_int64(member, 3, static_cast<int64_t>(random.Below(static_cast<uint64_t>(buckets[drawn].count))));
    TOUCHSTONE_CHECK(sqlite3_step(member) == SQLITE_ROW, sqlite3_errmsg(database));
    buckets.erase(buckets.begin() + static_cast<ptrdiff_t>(drawn));
  }
  const double took = Milliseconds(RawClock::now() - begin);
  sqlite3_finalize(means);
  sqlite3_finalize(member);
  sqlite3_close(database);
  return took;
}

Result<nlohmann::json> Bench(const Options& options) {
  constexpr double kReachUs = 1000;
  constexpr int kDraws = 2000;
  const BenchFolder folder(options.disk);
  TOUCHSTONE_RETURN_IF_ERROR(Fill(folder.path(), options.rollouts));
  StoreOptions store_options;
  store_options.folder = folder.path();
  TOUCHSTONE_ASSIGN(const std::unique_ptr<RolloutStore> store, RolloutStore::Open(store_options));
  const double before_mib = ResidentMiB();
  const auto begin = RawClock::now();
  TOUCHSTONE_ASSIGN(const std::unique_ptr<RolloutSelector> selector, RolloutSelector::Create(*store));
  const double start_ms = Milliseconds(RawClock::now() - begin);
  SelectionRequest request;
  request.task = kTask;
  const auto first = RawClock::now();
  TOUCHSTONE_ASSIGN(const Selection warm, selector->Select(request));
  const double first_ms = Milliseconds(RawClock::now() - first);
  const double index_mib = ResidentMiB() - before_mib;
  std::vector<double> now_us;
  std::vector<double> then_us;
  size_t complete = 0;
  for (int i = 0; i < kDraws; ++i) {
    request.seed = static_cast<uint64_t>(i);
    // As of now, and as of the middle of the store.
    for (const uint64_t as_of : {uint64_t{0}, warm.as_of / 2}) {
      request.as_of = as_of;
      const auto at = RawClock::now();
      TOUCHSTONE_ASSIGN(const Selection selection, selector->Select(request));
      (as_of == 0 ? now_us : then_us).push_back(ToMicroseconds(RawClock::now() - at));
      complete += selection.items.size() == 2 ? 1 : 0;
    }
  }
  std::vector<double> naive_ms;
  for (uint64_t i = 0; i < 3; ++i) naive_ms.push_back(NaiveMilliseconds(folder.path(), i));
  const double p50 = At(now_us, 0.5);
  return nlohmann::json{{"id", "pair_p50_us"},
                        {"value", p50},
                        {"unit", "µs"},
                        {"reach", kReachUs},
                        {"ok", complete == size_t{2} * kDraws && p50 < kReachUs},
                        {"detail",
                         {{"rollouts", warm.as_of},
                          {"p99_us", At(now_us, 0.99)},
                          {"as_of_the_middle_p50_us", At(then_us, 0.5)},
                          {"naive_sql_ms", At(naive_ms, 0.5)},
                          {"selector_start_ms", start_ms},
                          {"first_draw_ms", first_ms},
                          {"index_mib", index_mib}}}};
}

}  // namespace
}  // namespace touchstone

int main(int argc, char** argv) {
  touchstone::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--json") options.file = argv[i + 1];
    if (std::string(argv[i]) == "--folder") options.disk = argv[i + 1];
    if (std::string(argv[i]) == "--rollouts") options.rollouts = std::strtoull(argv[i + 1], nullptr, 10);
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

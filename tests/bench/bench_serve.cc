// How fast the server is: `bench_serve --row ID [--json FILE] [--seconds N] [--folder DISK]` writes
// [{id, value, unit, reach, ok, detail}, …] ("-": standard output); exit code 1 when `reach` is missed.
// `--endpoint ADDRESS` drives another server instead of its own, `--sample FILE` only writes the reply of one step.
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "env/serve/slot_probe.h"
#include "env/serve/wire.h"
#include "tests/env/serve/harness.h"

namespace touchstone {
namespace {

using nlohmann::json;

struct Options {
  std::string row;
  std::string file = "-";
  std::string disk = "/var/tmp";
  std::string endpoint;  // empty: a server of our own
  std::string sample;
  double seconds = 3;
};

double Seconds(RawClock::duration d) { return ToMicroseconds(d) / 1e6; }

double At(std::vector<double> values, double quantile) {
  if (values.empty()) return -1;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(quantile * static_cast<double>(values.size() - 1))];
}

constexpr int kTurns = 1000;
constexpr char kSource[] =
    "extern \"C\" void run(const float* x, const float* y, float* z, int64_t n) {} // speedup=1.5";

// Clients that step their sessions: so many connections, each with so many sessions, one step of each in flight.
class Load {
 public:
  Load(std::string endpoint, int connections, int sessions_each) : endpoint_(std::move(endpoint)) {
    context_.set(zmq::ctxopt::max_sockets, connections + 16);
    for (int i = 0; i < connections; ++i) {
      auto& socket = sockets_.emplace_back(context_, zmq::socket_type::dealer);
      socket.set(zmq::sockopt::linger, 0);
      socket.connect(endpoint_);
    }
    sessions_each_ = sessions_each;
  }

  Status OpenSessions() {
    for (size_t i = 0; i < sockets_.size(); ++i) {
      for (int j = 0; j < sessions_each_; ++j) {
        sessions_.push_back({i, "", 0, {}});
        Reset(sessions_.size() - 1);
      }
      for (int j = 0; j < sessions_each_; ++j) {
        Receive(sockets_[i]);
        TOUCHSTONE_RETURN_IF_ERROR(Opened(SessionOfReply()));
      }
    }
    return {};
  }

  struct Measured {
    uint64_t steps = 0;
    uint64_t errors = 0;
    double seconds = 0;
    std::vector<double> latency_us;
  };

  Measured Run(double seconds) {
    Measured measured;
    std::vector<zmq::pollitem_t> items;
    for (auto& socket : sockets_) items.push_back({socket.handle(), 0, ZMQ_POLLIN, 0});
    for (size_t s = 0; s < sessions_.size(); ++s) Step(s);
    size_t in_flight = sessions_.size();
    const auto begin = RawClock::now();
    const auto end = begin + std::chrono::duration_cast<RawClock::duration>(std::chrono::duration<double>(seconds));
    while (in_flight > 0) {
      zmq::poll(items, std::chrono::milliseconds(10'000));
      const bool goes_on = RawClock::now() < end;
      for (size_t i = 0; i < items.size(); ++i) {
        if ((items[i].revents & ZMQ_POLLIN) == 0) continue;
        while (TryReceive(sockets_[i])) {
          const size_t s = SessionOfReply();
          if (sessions_[s].turns == kTurns && reply_.ok) {  // an episode has its end; the next one begins
            if (sessions_[s].payload.empty() && Opened(s).ok()) {
              Step(s);
            } else {
              ++measured.steps;
              Reset(s);
            }
            continue;
          }
          measured.latency_us.push_back(ToMicroseconds(RawClock::now() - sessions_[s].sent));
          ++(reply_.ok ? measured.steps : measured.errors);
          --in_flight;
          if (!goes_on) continue;
          Step(s);
          ++in_flight;
        }
      }
    }
    measured.seconds = Seconds(RawClock::now() - begin);
    return measured;
  }

  const std::string& last_payload() const { return reply_.payload; }

 private:
  struct Session {
    size_t socket;
    std::string payload;  // of its steps; empty: it is being opened
    int turns;
    RawClock::time_point sent;
  };
  struct Reply {
    std::string id;
    bool ok = false;
    std::string payload;
  };

  // New for every load: a request that a server knows already is not done again.
  std::string Name(size_t i) const { return name_ + "-" + std::to_string(i); }

  size_t SessionOfReply() const { return std::stoul(reply_.id.substr(reply_.id.find('-') + 1)); }

  void Reset(size_t s) {
    Session& session = sessions_[s];
    session.payload.clear();
    ResetRequest reset;
    reset.tasks = {"add"};
    reset.max_turns = kTurns;
    const std::string id = std::to_string(++steps_) + "-" + std::to_string(s);
    Send(sockets_[session.socket], id, "reset", wire::EncodeRequest({{Name(session.socket), id}, reset}));
  }

  Status Opened(size_t s) {
    const auto reply = wire::DecodeReply<ResetReply>(reply_.payload);
    if (!reply.ok()) return Error(ErrorCode::kInternal, "opening a session: " + reply_.payload);
    StepRequest step;
    step.session = reply->session;
    step.action.source = kSource;
    sessions_[s].payload = wire::EncodeRequest({{Name(sessions_[s].socket), "x"}, step});
    sessions_[s].turns = 0;
    return {};
  }

  void Step(size_t s) {
    ++sessions_[s].turns;
    sessions_[s].sent = RawClock::now();
    Send(sockets_[sessions_[s].socket], std::to_string(++steps_) + "-" + std::to_string(s), "step",
         sessions_[s].payload);
  }

  static void Send(zmq::socket_t& socket, const std::string& id, std::string_view method, const std::string& payload) {
    socket.send(zmq::buffer(id), zmq::send_flags::sndmore);
    socket.send(zmq::buffer(method), zmq::send_flags::sndmore);
    socket.send(zmq::buffer(payload), zmq::send_flags::none);
  }
  const Reply& Receive(zmq::socket_t& socket) {
    zmq::pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
    while (!TryReceive(socket)) zmq::poll(&item, 1, std::chrono::milliseconds(10'000));
    return reply_;
  }
  bool TryReceive(zmq::socket_t& socket) {
    zmq::message_t frames[3];
    if (!socket.recv(frames[0], zmq::recv_flags::dontwait).has_value()) return false;
    for (int i = 1; i < 3; ++i) (void)socket.recv(frames[i]);
    reply_.id = frames[0].to_string();
    reply_.ok = frames[1].to_string_view() == "ok";
    reply_.payload = frames[2].to_string();
    return true;
  }

  const std::string endpoint_;
  const std::string name_ = ToHex(NewSecretKey()).substr(0, 16);
  int sessions_each_ = 1;
  zmq::context_t context_{1};
  std::vector<zmq::socket_t> sockets_;
  std::vector<Session> sessions_;
  uint64_t steps_ = 0;
  Reply reply_;
};

json Row(const std::string& id, double value, const char* unit, double reach, bool ok, json detail) {
  return {{"id", id}, {"value", value}, {"unit", unit}, {"reach", reach}, {"ok", ok}, {"detail", std::move(detail)}};
}

Result<Load::Measured> Drive(const std::string& endpoint, int connections, int sessions_each, double seconds) {
  Load load(endpoint, connections, sessions_each);
  TOUCHSTONE_RETURN_IF_ERROR(load.OpenSessions());
  auto measured = load.Run(seconds);
  if (measured.errors > 0) return Error(ErrorCode::kInternal, "steps ended with errors: " + load.last_payload());
  return measured;
}

Result<json> StepsPerSecond(const Options& options) {
  Harness harness;
  std::string endpoint = options.endpoint;
  if (endpoint.empty()) {
    TOUCHSTONE_RETURN_IF_ERROR(harness.Start());
    endpoint = harness.server->endpoint();
  }
  TOUCHSTONE_ASSIGN(const auto many, Drive(endpoint, 16, 16, options.seconds));
  TOUCHSTONE_ASSIGN(const auto one, Drive(endpoint, 1, 1, options.seconds));
  const double rate = static_cast<double>(many.steps) / many.seconds;
  const double p50 = At(one.latency_us, 0.5);
  const json detail = {{"p50_us", At(many.latency_us, 0.5)}, {"p99_us", At(many.latency_us, 0.99)}, {"clients", 16}};
  return json::array({Row("server_steps_per_s", rate, "1/s", 20'000, rate >= 20'000, detail),
                      Row("server_p50_us", p50, "us", 150, p50 <= 150, {{"p99_us", At(one.latency_us, 0.99)}})});
}

// What one write and its way to the disk take.
double FsyncMicroseconds(const std::string& folder) {
  const std::string path = folder + "/fsync";
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::string block(4096, 'x');
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    const auto begin = RawClock::now();
    if (::pwrite(file.get(), block.data(), block.size(), i * 4096) < 0 || ::fdatasync(file.get()) != 0) return -1;
    times.push_back(ToMicroseconds(RawClock::now() - begin));
  }
  return At(times, 0.5);
}

Result<json> DurableStepsPerSecond(const Options& options) {
  std::string folder = options.disk + "/touchstone-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return ErrnoError("making " + folder);
  const auto measure = [&]() -> Result<json> {
    Harness harness;
    harness.store_folder = folder + "/store";
    TOUCHSTONE_RETURN_IF_ERROR(harness.Start());
    TOUCHSTONE_ASSIGN(const auto many, Drive(harness.server->endpoint(), 64, 4, options.seconds));
    TOUCHSTONE_ASSIGN(const auto one, Drive(harness.server->endpoint(), 1, 1, options.seconds));
    const double rate = static_cast<double>(many.steps) / many.seconds;
    const double fsync = FsyncMicroseconds(folder);
    const double p50 = At(one.latency_us, 0.5);
    return json::array({Row("durable_steps_per_s", rate, "1/s", 10'000, rate >= 10'000 && p50 <= fsync + 500,
                            {{"one_client_p50_us", p50},
                             {"fdatasync_p50_us", fsync},
                             {"p50_us", At(many.latency_us, 0.5)},
                             {"p99_us", At(many.latency_us, 0.99)},
                             {"clients", 64}})});
  };
  auto rows = measure();
  std::filesystem::remove_all(folder);
  return rows;
}

double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

Result<json> TenThousandSessions(const Options&) {
  constexpr int kSessions = 10'000;
  constexpr int kClients = 1'000;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  Harness harness;
  harness.options.max_in_flight = kSessions;
  TOUCHSTONE_RETURN_IF_ERROR(harness.Start());
  auto client = harness.Connect("opener");
  ResetRequest reset;
  reset.tasks = {"add"};
  TOUCHSTONE_RETURN_IF_ERROR([&]() -> Status {  // what is made once is made now
    TOUCHSTONE_ASSIGN(const auto first, client->Reset(reset));
    (void)first;
    return {};
  }());
  const double before = ResidentBytes();
  for (int i = 0; i < kSessions; ++i) {
    TOUCHSTONE_ASSIGN(const auto reply, client->Reset(reset));
    (void)reply;
  }
  const double each = (ResidentBytes() - before) / kSessions;

  Load load(harness.server->endpoint(), kClients, 1);
  TOUCHSTONE_RETURN_IF_ERROR(load.OpenSessions());
  const auto burst = load.Run(0);  // one step of each, all at once
  const bool ok = each <= 4096 && burst.steps == kClients && burst.errors == 0;
  return json::array({Row("sessions_10k", each, "B", 4096, ok,
                          {{"sessions", harness.environment->open_sessions()},
                           {"clients_at_once", kClients},
                           {"replies", burst.steps},
                           {"errors", burst.errors},
                           {"p99_us", At(burst.latency_us, 0.99)}})});
}

// A candidate that dies at a moment that we know, because boxes have the host's clock: at the next multiple of this.
constexpr int64_t kDeathEveryNs = 100'000'000;
constexpr char kDies[] = R"(
#include <cstdlib>
#include <ctime>
extern "C" void run(const float*, const float*, float*, int64_t) {
  timespec t;
  do clock_gettime(CLOCK_MONOTONIC, &t);
  while (t.tv_nsec % 100000000 > 1000000);
  abort();
}
)";

int64_t MonotonicNs() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

Result<json> DeathToReply(const Options&) {
  Harness harness;
  harness.make_evaluator = [](const SlotSpec&) {
    EvaluatorOptions options;
    options.build.cache_folder = "/tmp/touchstone-bench-cache-" + std::to_string(::getuid());
    return Evaluator::Create(std::move(options));
  };
  TOUCHSTONE_RETURN_IF_ERROR(harness.Start());
  auto client = harness.Connect();
  std::vector<double> times_ms;
  std::map<std::string, int> statuses;
  for (int i = 0; i < 10; ++i) {
    ScoreRequest score;
    score.task = "add";
    score.profile = "check";
    score.action.source = kDies;
    TOUCHSTONE_ASSIGN(const auto reply, client->Score(score));
    times_ms.push_back(static_cast<double>(MonotonicNs() % kDeathEveryNs) / 1e6);
    ++statuses[std::string(ToString(reply.info.result.status))];
  }
  const double median = At(times_ms, 0.5);
  const bool ok = median <= 60 && statuses["runtime_error"] == 10;
  return json::array({Row("death_to_reply_ms", median, "ms", 60, ok,
                          {{"max", At(times_ms, 1)}, {"min", At(times_ms, 0)}, {"statuses", statuses}})});
}

Result<json> ScalingSlots(const Options& options) {
  const auto sleep = std::chrono::milliseconds(20);
  json rows = json::array();
  double one = 0;
  for (const int slots : {1, 8, 64}) {
    Harness harness;
    harness.slots.clear();
    for (int i = 0; i < slots; ++i) harness.slots.push_back({"s" + std::to_string(i), {i}});
    harness.evaluate = [sleep](const EvalRequest& request) {
      std::this_thread::sleep_for(sleep);
      return SuccessFor(request);
    };
    TOUCHSTONE_RETURN_IF_ERROR(harness.Start());
    TOUCHSTONE_ASSIGN(const auto run, Drive(harness.server->endpoint(), 8, std::max(1, slots / 2), options.seconds));
    const double rate = static_cast<double>(run.steps) / run.seconds;
    if (slots == 1) one = rate;
    const double share = rate / (one * slots);
    rows.push_back(Row("scaling_slots/" + std::to_string(slots), share, "", 0.95, share >= 0.95,
                       {{"evaluations_per_s", rate}, {"sleep_ms", sleep.count()}}));
  }
  return rows;
}

Result<json> WriteSample(const Options& options) {
  Harness harness;
  TOUCHSTONE_RETURN_IF_ERROR(harness.Start());
  Load load(harness.server->endpoint(), 1, 1);
  TOUCHSTONE_RETURN_IF_ERROR(load.OpenSessions());
  load.Run(0);
  std::ofstream(options.sample, std::ios::binary) << load.last_payload();
  return json::array();
}

Result<json> Measure(const Options& options) {
  if (!options.sample.empty()) return WriteSample(options);
  if (options.row == "server_steps_per_s") return StepsPerSecond(options);
  if (options.row == "durable_steps_per_s") return DurableStepsPerSecond(options);
  if (options.row == "sessions_10k") return TenThousandSessions(options);
  if (options.row == "death_to_reply_ms") return DeathToReply(options);
  if (options.row == "scaling_slots") return ScalingSlots(options);
  return Error(ErrorCode::kInvalidArgument, "no row '" + options.row + "'");
}

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--row") options.row = argv[i + 1];
    if (name == "--json") options.file = argv[i + 1];
    if (name == "--folder") options.disk = argv[i + 1];
    if (name == "--endpoint") options.endpoint = argv[i + 1];
    if (name == "--sample") options.sample = argv[i + 1];
    if (name == "--seconds") options.seconds = std::atof(argv[i + 1]);
  }
  const auto rows = Measure(options);
  if (!rows.ok()) {
    std::fprintf(stderr, "%s\n", rows.error().ToString().c_str());
    return 2;
  }
  const std::string text = rows->dump(1) + "\n";
  if (options.file == "-") {
    std::fputs(text.c_str(), stdout);
  } else {
    std::ofstream(options.file) << text;
  }
  return std::all_of(rows->begin(), rows->end(), [](const json& row) { return row["ok"].get<bool>(); }) ? 0 : 1;
}

}  // namespace
}  // namespace touchstone

int main(int argc, char** argv) { return touchstone::Main(argc, argv); }

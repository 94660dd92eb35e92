// What only the wire has beside env/messages.h: the calls about calls, and errors as they travel (docs/wire.md).
#ifndef TOUCHSTONE_ENV_SERVE_CALLS_H_
#define TOUCHSTONE_ENV_SERVE_CALLS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "env/messages.h"
#include "rollout/selector.h"

namespace touchstone::wire {

inline constexpr int64_t kVersion = 1;
inline constexpr size_t kMaxIdBytes = 64;  // of a request id and of a client's name

// --- asked ----------------------------------------------------------------------------------------------------------

struct DescribeRequest {};

// A call whose answer is for `collect`.
struct SubmitRequest {
  std::variant<StepRequest, ScoreRequest> call;
};

struct CollectRequest {
  std::vector<std::string> ids;  // empty: any of this client
  int max = 64;
  std::chrono::milliseconds wait{0};
  std::vector<std::string> ack;  // what came over and need not be kept
};

struct CancelRequest {
  std::string id;
};

struct CloseRequest {
  std::string session;
};

struct HealthRequest {};
struct MetricsRequest {};

using Request =
    std::variant<DescribeRequest, ResetRequest, StepRequest, ScoreRequest, ValidateRequest, SubmitRequest,
                 CollectRequest, CancelRequest, SelectionRequest, CloseRequest, HealthRequest, MetricsRequest>;

// The names of the methods, in the order of Request's alternatives.
inline constexpr std::string_view kMethods[] = {"describe", "reset",  "step",   "score", "validate", "submit",
                                                "collect",  "cancel", "sample", "close", "health",   "metrics"};
static_assert(std::size(kMethods) == std::variant_size_v<Request>);
inline std::string_view MethodOf(const Request& request) { return kMethods[request.index()]; }

struct Call {
  RequestKey key;  // also in the request, where that has one
  Request request;
};

// Puts the key into the call and everything in it that has one.
void SetKey(Call& call, const RequestKey& key);

// --- answered -------------------------------------------------------------------------------------------------------

struct RewardFacts {
  std::string name;
  double low = 0;
  double high = 0;
  std::string formula;
  std::string source;
};

struct DescribeReply {
  std::string version;  // of the program
  std::vector<std::string> tasks;
  std::vector<std::string> methods;
  std::vector<RewardFacts> rewards;
  std::vector<std::string> profiles;
  std::vector<std::string> selectors;
  std::map<std::string, int64_t> limits;
  std::map<std::string, std::string> device;
};

struct SubmitReply {
  bool accepted = false;
};

struct Collected {
  std::string id;
  bool ok = false;
  std::string call;     // "step", "score", …
  std::string payload;  // the encoded reply, or the encoded error where not ok
};

struct CollectReply {
  std::vector<Collected> results;
  int64_t pending = 0;  // of those asked for, not finished
};

struct CancelReply {
  bool cancelled = false;
};

struct SampledRollout {
  std::string rollout;
  uint64_t sequence = 0;
  std::string source;
  double score = 0;
  double probability = 0;
};

struct SampleReply {
  std::vector<SampledRollout> items;
  uint64_t as_of = 0;
};

struct CloseReply {
  bool closed = false;
};

struct SlotFacts {
  std::string name;
  std::string state;  // "starting", "idle", "busy", "probing", "quarantined"
  std::string why;    // of a quarantine
  std::string cpus;
  bool untimed = false;  // takes only work without timing, and shares its cores with others of its kind
};

struct HealthReply {
  bool ok = false;  // some slot works, and the socket's thread turns
  double uptime_s = 0;
  double silent_s = 0;  // since the socket's thread turned last
  std::vector<SlotFacts> slots;
  int64_t waiting = 0;
  int64_t running = 0;
  int64_t sessions = 0;
  std::string store;  // its folder; empty: nothing is kept
};

struct MetricsReply {
  std::string text;
};

// --- errors ---------------------------------------------------------------------------------------------------------

struct CallError {
  std::string code;  // the names of docs/wire.md
  std::string message;
  std::string field;
  std::optional<int64_t> limit;
  std::optional<int64_t> retry_after_ms;
};

// "request" or "environment".
std::string_view FaultOf(const CallError& error);
CallError ToCallError(const Error& error, std::chrono::milliseconds retry_after);
// For callers of the C++ client: the code that comes nearest.
Error ToError(const CallError& error);
// Whose fault an error of the client is: false for what the environment has to answer for.
bool IsRequestsFault(ErrorCode code);

}  // namespace touchstone::wire

#endif  // TOUCHSTONE_ENV_SERVE_CALLS_H_

#include "env/serve/wire.h"

#include <algorithm>
#include <sstream>

#include "env/serve/wire_reader.h"
#include "env/serve/wire_writer.h"

namespace touchstone::wire {
namespace {

// A request is a map of scalars, texts and lists of texts.
constexpr size_t kMaxDepth = 2;
constexpr size_t kMaxEntries = 64;
constexpr size_t kMaxItems = 10'000;
// Of replies, against damage only.
constexpr size_t kMaxReplyDepth = 16;
constexpr size_t kMaxReplyItems = size_t{1} << 22;

template <size_t I = 0>
Request MakeRequest(size_t method) {
  if constexpr (I + 1 < std::variant_size_v<Request>) {
    if (method != I) return MakeRequest<I + 1>(method);
  }
  return Request(std::in_place_index<I>);
}

// Whether a call changes something, or is about what the client asked before: then its name is needed.
bool NeedsClient(const Request& request) {
  return !std::holds_alternative<DescribeRequest>(request) && !std::holds_alternative<SelectionRequest>(request) &&
         !std::holds_alternative<HealthRequest>(request) && !std::holds_alternative<MetricsRequest>(request);
}

// Texts of the result point into `bytes`. What is wrong with them as such is in `error`.
msgpack::object Unpack(msgpack::zone& zone, std::string_view bytes, const msgpack::unpack_limit& limit,
                       std::optional<CallError>& error) {
  const auto fail = [&](const std::string& what, std::optional<size_t> most = std::nullopt) {
    error = CallError{"invalid_argument", "payload: " + what, "payload",
                      most ? std::optional<int64_t>(*most) : std::nullopt, std::nullopt};
    return msgpack::object();
  };
  const auto in_place = [](msgpack::type::object_type, size_t, void*) { return true; };
  try {
    size_t end = 0;
    bool referenced = false;
    const msgpack::object object =
        msgpack::unpack(zone, bytes.data(), bytes.size(), end, referenced, in_place, nullptr, limit);
    if (end != bytes.size()) return fail("there are bytes after its end");
    if (object.type != msgpack::type::MAP) return fail("is not a map");
    return object;
  } catch (const msgpack::array_size_overflow&) {
    return fail("a list has too many items", limit.array());
  } catch (const msgpack::map_size_overflow&) {
    return fail("a map has too many entries", limit.map());
  } catch (const msgpack::depth_size_overflow&) {
    return fail("is nested too deeply", limit.depth());
  } catch (const std::exception&) {
    return fail("is not msgpack");
  }
}

void ReadEnvelope(Reader& reader, bool needs_client, std::string& client) {
  int64_t version = 0;
  reader("v", version, kNeeded);
  if (version != kVersion) {
    reader.Fail("v", "version " + std::to_string(version) + " is not spoken here", kVersion, "version");
  }
  reader("client", client, Rule{.max_bytes = kMaxIdBytes, .needed = needs_client});
  if (!client.empty() && !IsId(client)) reader.Fail("client", "is not printable ASCII");
}

template <typename Put>
std::string WriteMap(uint32_t entries, const Put& put) {
  Writer writer;
  writer.BeginMap(entries + 1);
  writer("v", kVersion);
  put(writer);
  return writer.Take();
}

}  // namespace

bool IsId(std::string_view text) {
  return !text.empty() && text.size() <= kMaxIdBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::variant<Call, CallError> DecodeRequest(std::string_view request_id, std::string_view method,
                                            std::string_view payload, const Limits& limits) {
  const auto invalid = [](const char* field, const std::string& what, std::optional<int64_t> limit = {}) {
    return CallError{"invalid_argument", std::string(field) + ": " + what, field, limit, std::nullopt};
  };
  if (!IsId(request_id)) return invalid("request_id", "is not 1 to 64 bytes of printable ASCII", kMaxIdBytes);
  const auto* known = std::find(std::begin(kMethods), std::end(kMethods), method);
  if (known == std::end(kMethods)) return invalid("method", "there is no such method");
  if (payload.size() > limits.max_message_bytes) {
    CallError error = invalid("payload", "has " + std::to_string(payload.size()) + " bytes",
                              static_cast<int64_t>(limits.max_message_bytes));
    error.code = "too_large";
    return error;
  }

  std::optional<CallError> error;
  msgpack::zone zone(2048);
  const msgpack::unpack_limit unpack(kMaxItems, kMaxEntries, limits.max_message_bytes, limits.max_message_bytes, 0,
                                     kMaxDepth);
  const msgpack::object object = Unpack(zone, payload, unpack, error);
  if (error.has_value()) return *std::move(error);

  Call call{{"", std::string(request_id)}, MakeRequest(static_cast<size_t>(known - std::begin(kMethods)))};
  Reader reader(object.via.map, &limits, error);
  ReadEnvelope(reader, NeedsClient(call.request), call.key.client);
  std::visit([&](auto& request) { Fields(reader, request); }, call.request);
  reader.ExpectNoOthers();
  if (error.has_value()) return *std::move(error);
  SetKey(call, RequestKey(call.key));
  return call;
}

std::string EncodeRequest(const Call& call) {
  return std::visit(
      [&](const auto& request) {
        return WriteMap(Counter::Of(request) + 1, [&](Writer& writer) {
          writer("client", call.key.client);
          Fields(writer, request);
        });
      },
      call.request);
}

template <typename T>
std::string EncodeReply(const T& reply) {
  return WriteMap(Counter::Of(reply), [&](Writer& writer) { Fields(writer, reply); });
}

template <typename T>
Result<T> DecodeReply(std::string_view payload) {
  std::optional<CallError> error;
  msgpack::zone zone;
  const msgpack::unpack_limit unpack(kMaxReplyItems, kMaxReplyItems, payload.size(), payload.size(), 0, kMaxReplyDepth);
  const msgpack::object object = Unpack(zone, payload, unpack, error);
  T reply;
  if (!error.has_value()) {
    Reader reader(object.via.map, nullptr, error);
    Fields(reader, reply);
  }
  if (error.has_value()) return Error(ErrorCode::kCorrupt, error->message);
  return reply;
}

#define TOUCHSTONE_REPLY(T)                   \
  template std::string EncodeReply(const T&); \
  template Result<T> DecodeReply(std::string_view)
TOUCHSTONE_REPLY(ResetReply);
TOUCHSTONE_REPLY(StepReply);
TOUCHSTONE_REPLY(ScoreReply);
TOUCHSTONE_REPLY(ValidateReply);
TOUCHSTONE_REPLY(CallError);
TOUCHSTONE_REPLY(DescribeReply);
TOUCHSTONE_REPLY(SubmitReply);
TOUCHSTONE_REPLY(CollectReply);
TOUCHSTONE_REPLY(CancelReply);
TOUCHSTONE_REPLY(SampleReply);
TOUCHSTONE_REPLY(CloseReply);
TOUCHSTONE_REPLY(HealthReply);
TOUCHSTONE_REPLY(MetricsReply);
#undef TOUCHSTONE_REPLY

}  // namespace touchstone::wire

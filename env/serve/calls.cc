#include "env/serve/calls.h"

#include <algorithm>
#include <cctype>

namespace touchstone::wire {
namespace {

struct CodeName {
  ErrorCode code;
  std::string_view name;
};

// The first row of a name is the one that ToError takes, the first row of a code the one that ToCallError takes.
constexpr CodeName kCodes[] = {
    {ErrorCode::kInvalidArgument, "invalid_argument"},
    {ErrorCode::kNotFound, "not_found"},
    {ErrorCode::kExhausted, "busy"},
    {ErrorCode::kUnavailable, "unavailable"},
    {ErrorCode::kClosed, "closed"},
    {ErrorCode::kConflict, "conflict"},
    {ErrorCode::kInternal, "internal"},
    {ErrorCode::kInvalidArgument, "version"},
    {ErrorCode::kInvalidArgument, "too_large"},
    {ErrorCode::kCorrupt, "internal"},
    {ErrorCode::kDeadline, "unavailable"},
};

// Messages of ours begin with the field they are about: "seed: must be …".
std::string LeadingField(const std::string& message) {
  const auto end = std::find_if_not(message.begin(), message.end(),
                                    [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; });
  const bool is_field = end != message.begin() && message.end() - end > 1 && end[0] == ':' && end[1] == ' ';
  return is_field ? std::string(message.begin(), end) : "";
}

}  // namespace

void SetKey(Call& call, const RequestKey& key) {
  call.key = key;
  std::visit(
      [&](auto& request) {
        if constexpr (requires { request.key; }) request.key = key;
        if constexpr (requires { request.call; }) std::visit([&](auto& inner) { inner.key = key; }, request.call);
      },
      call.request);
}

bool IsRequestsFault(ErrorCode code) {
  return code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound || code == ErrorCode::kClosed ||
         code == ErrorCode::kConflict;
}

std::string_view FaultOf(const CallError& error) {
  return IsRequestsFault(ToError(error).code()) ? "request" : "environment";
}

CallError ToCallError(const Error& error, std::chrono::milliseconds retry_after) {
  const auto* row = std::find_if(std::begin(kCodes), std::end(kCodes),
                                 [&](const CodeName& candidate) { return candidate.code == error.code(); });
  CallError call{std::string(row->name), error.message(), "", std::nullopt, std::nullopt};
  if (error.code() == ErrorCode::kInvalidArgument) call.field = LeadingField(error.message());
  if (error.code() == ErrorCode::kExhausted) call.retry_after_ms = retry_after.count();
  return call;
}

Error ToError(const CallError& error) {
  const auto* row = std::find_if(std::begin(kCodes), std::end(kCodes),
                                 [&](const CodeName& candidate) { return candidate.name == error.code; });
  return Error(row != std::end(kCodes) ? row->code : ErrorCode::kInternal, error.message);
}

}  // namespace touchstone::wire

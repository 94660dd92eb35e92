#include "rollout/store/record_codec.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace touchstone {
namespace {

using nlohmann::json;

Error Invalid(std::string_view field, const std::string& what) {
  return Error(ErrorCode::kInvalidArgument, std::string(field) + ": " + what);
}

Status CheckFinite(std::string_view field, double value) {
  if (std::isfinite(value)) return {};
  return Invalid(field, "not a finite number");
}

// Bytes that are not UTF-8 (a compiler's output may hold them) become U+FFFD: JSON has no place for them.
std::string Dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

Status CheckRecord(const RolloutRecord& record) {
  TOUCHSTONE_RETURN_IF_ERROR(CheckName("id", record.id, NameRule::kMustBe));
  TOUCHSTONE_RETURN_IF_ERROR(CheckName("request.client", record.request.client, NameRule::kMayBeEmpty));
  TOUCHSTONE_RETURN_IF_ERROR(CheckName("request.request_id", record.request.request_id, NameRule::kMustBe));
  TOUCHSTONE_RETURN_IF_ERROR(CheckName("session", record.session, NameRule::kMayBeEmpty));
  TOUCHSTONE_RETURN_IF_ERROR(CheckName("task", record.task, NameRule::kMayBeEmpty));
  TOUCHSTONE_RETURN_IF_ERROR(CheckName("group_id", record.group_id, NameRule::kMayBeEmpty));
  TOUCHSTONE_RETURN_IF_ERROR(CheckName("parent", record.parent, NameRule::kMayBeEmpty));
  TOUCHSTONE_RETURN_IF_ERROR(CheckName("policy_version", record.policy_version, NameRule::kMayBeEmpty));
  TOUCHSTONE_RETURN_IF_ERROR(CheckName("prompt_hash", record.prompt_hash, NameRule::kMayBeEmpty));
  TOUCHSTONE_RETURN_IF_ERROR(CheckName("reward_preset", record.reward_preset, NameRule::kMayBeEmpty));
  if (record.turn < 0) return Invalid("turn", std::to_string(record.turn) + " is less than 0");
  if (record.exemplars.size() > format::kMaxExemplars) {
    return Invalid("exemplars", std::to_string(record.exemplars.size()) + " ids, the limit is " +
                                    std::to_string(format::kMaxExemplars));
  }
  for (const std::string& id : record.exemplars) {
    TOUCHSTONE_RETURN_IF_ERROR(CheckName("exemplars", id, NameRule::kMustBe));
  }
  TOUCHSTONE_RETURN_IF_ERROR(CheckFinite("result.rewarded_speedup", record.result.rewarded_speedup));
  if (record.reward) TOUCHSTONE_RETURN_IF_ERROR(CheckFinite("reward", *record.reward));
  TOUCHSTONE_RETURN_IF_ERROR(CheckFinite("reward_increment", record.reward_increment));
  TOUCHSTONE_RETURN_IF_ERROR(CheckFinite("best_speedup", record.best_speedup));
  return {};
}

RolloutSummary Summarize(const RolloutRecord& record) {
  RolloutSummary summary;
  summary.id = record.id;
  summary.session = record.session;
  summary.turn = record.turn;
  summary.task = record.task;
  summary.group_id = record.group_id;
  summary.parent = record.parent;
  summary.policy_version = record.policy_version;
  summary.status = record.result.status;
  summary.reward_preset = record.reward_preset;
  summary.reward = record.reward;
  summary.speedup = record.result.rewarded_speedup;
  summary.score = record.score();
  summary.time = record.time;
  return summary;
}

}  // namespace

Status CheckName(std::string_view field, std::string_view name, NameRule rule) {
  if (name.empty() && rule == NameRule::kMustBe) return Invalid(field, "is empty");
  if (name.size() > format::kMaxNameBytes) {
    return Invalid(field,
                   std::to_string(name.size()) + " bytes, the limit is " + std::to_string(format::kMaxNameBytes));
  }
  if (name.find('\0') != std::string_view::npos) return Invalid(field, "holds a zero byte");
  return {};
}

Result<EncodedRollout> EncodeRollout(const RolloutRecord& record) {
  TOUCHSTONE_RETURN_IF_ERROR(CheckRecord(record));
  EncodedRollout encoded;
  TOUCHSTONE_ASSIGN(encoded.response, EncodePayload("response", record.response));
  TOUCHSTONE_ASSIGN(encoded.source, EncodePayload("source", record.source));
  TOUCHSTONE_ASSIGN(encoded.result, EncodePayload("result", Dump(ToJson(record.result))));
  ItemRow& row = encoded.row;
  row.summary = Summarize(record);
  row.request = record.request;
  row.exemplars = record.exemplars.empty() ? "[]" : Dump(json(record.exemplars));
  row.prompt_hash = record.prompt_hash;
  row.response = encoded.response.hash;
  row.source = encoded.source.hash;
  row.result = encoded.result.hash;
  row.code_begin = record.code_begin;
  row.code_end = record.code_end;
  row.reward_increment = record.reward_increment;
  row.best_speedup = record.best_speedup;
  row.terminated = record.terminated;
  row.truncated = record.truncated;
  encoded.checksum = row.Checksum();
  return encoded;
}

Result<RolloutRecord> DecodeRollout(ItemRow row, std::string response, std::string source, std::string_view result) {
  RolloutSummary& summary = row.summary;
  RolloutRecord record;
  const json exemplars = json::parse(row.exemplars, nullptr, /*allow_exceptions=*/false);
  if (!exemplars.is_array()) return Error(ErrorCode::kCorrupt, "exemplars: not a list");
  for (const json& id : exemplars) {
    if (!id.is_string()) return Error(ErrorCode::kCorrupt, "exemplars: not a list of texts");
    record.exemplars.push_back(id.get<std::string>());
  }
  const json parsed = json::parse(result, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return Error(ErrorCode::kCorrupt, "result: not JSON");
  auto full = EvalResultFromJson(parsed);
  if (!full.ok()) return Error(ErrorCode::kCorrupt, "result: " + full.error().message());

  record.sequence = summary.sequence;
  record.id = std::move(summary.id);
  record.request = std::move(row.request);
  record.time = summary.time;
  record.session = std::move(summary.session);
  record.turn = summary.turn;
  record.task = std::move(summary.task);
  record.group_id = std::move(summary.group_id);
  record.parent = std::move(summary.parent);
  record.policy_version = std::move(summary.policy_version);
  record.prompt_hash = std::move(row.prompt_hash);
  record.response = std::move(response);
  record.source = std::move(source);
  record.code_begin = row.code_begin;
  record.code_end = row.code_end;
  record.result = std::move(full).value();
  record.reward_preset = std::move(summary.reward_preset);
  record.reward = summary.reward;
  record.reward_increment = row.reward_increment;
  record.best_speedup = row.best_speedup;
  record.terminated = row.terminated;
  record.truncated = row.truncated;
  return record;
}

}  // namespace touchstone

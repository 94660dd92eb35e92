#include "reward/judge/judge_wire.h"

#include <nlohmann/json.hpp>

#include "base/channel.h"
#include "base/memfd.h"

namespace touchstone {
namespace {

using nlohmann::json;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// The library throws on a missing key or a wrong type; its message names the key.
template <typename Parse>
auto Guarded(Parse parse) -> decltype(parse()) {
  try {
    return parse();
  } catch (const json::exception& error) {
    return Error(ErrorCode::kInvalidArgument, error.what());
  }
}

}  // namespace

json ToJson(const JudgeOptions& options) {
  return {{"program_folder", options.program_folder},
          {"cpus", options.cpus},
          {"minimum_level", ToString(options.minimum_level)},
          {"disable_for_tests", options.disable_for_tests.bits()}};
}

Result<JudgeOptions> JudgeOptionsFromJson(const json& document) {
  return Guarded([&]() -> Result<JudgeOptions> {
    JudgeOptions options;
    options.program_folder = document.at("program_folder").get<std::string>();
    options.cpus = document.at("cpus").get<std::vector<int>>();
    const auto level = LevelFromString(document.at("minimum_level").get<std::string>());
    if (!level) return Error(ErrorCode::kInvalidArgument, "minimum_level: unknown level");
    options.minimum_level = *level;
    options.disable_for_tests = LayerSet(document.at("disable_for_tests").get<uint32_t>());
    return options;
  });
}

json ToJson(const JudgeRequest& request) {
  return {{"task_yaml", request.task_yaml},
          {"task_name", request.task_name},
          {"size", request.size},
          {"profile", RenderProfile(request.profile)},
          {"profile_name", request.profile.name},
          {"key", KeyToHex(request.key)},
          {"between_start_sd", request.between_start_sd},
          {"has_baseline", request.baseline_artifact >= 0},
          {"head", ToJson(request.head)}};
}

Result<JudgeRequest> JudgeRequestFromJson(const json& document) {
  return Guarded([&]() -> Result<JudgeRequest> {
    JudgeRequest request;
    request.task_yaml = document.at("task_yaml").get<std::string>();
    request.task_name = document.at("task_name").get<std::string>();
    request.size = document.at("size").get<std::string>();
    const auto name = document.at("profile_name").get<std::string>();
    TOUCHSTONE_ASSIGN(request.profile, ParseProfile(document.at("profile").get<std::string>(), name, name));
    TOUCHSTONE_ASSIGN(request.key, KeyFromHex(document.at("key").get<std::string>()));
    request.between_start_sd = document.at("between_start_sd").get<double>();
    TOUCHSTONE_ASSIGN(request.head, EvalResultFromJson(document.at("head")));
    return request;
  });
}

Result<SecretKey> KeyFromHex(const std::string& hex) {
  SecretKey key{};
  if (hex.size() != 2 * key.size()) return Error(ErrorCode::kInvalidArgument, "key: 64 hexadecimal digits are needed");
  for (size_t i = 0; i < key.size(); ++i) {
    const int high = HexDigit(hex[2 * i]);
    const int low = HexDigit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return Error(ErrorCode::kInvalidArgument, "key: not a hexadecimal digit");
    key[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return key;
}

std::string KeyToHex(const SecretKey& key) { return ToHex(key); }

Status SendDocument(int channel, const json& document, std::span<const int> fds) {
  TOUCHSTONE_ASSIGN(const UniqueFd content, CreateSealedMemfd("document", document.dump()));
  std::vector<int> all{content.get()};
  all.insert(all.end(), fds.begin(), fds.end());
  return Send(channel, "document", all);
}

Result<json> ReceiveDocument(int channel, std::chrono::milliseconds timeout, std::vector<UniqueFd>* fds) {
  TOUCHSTONE_ASSIGN(Message message, Receive(channel, timeout));
  if (message.fds.empty()) return Error(ErrorCode::kInternal, "a message without a document");
  TOUCHSTONE_ASSIGN(const std::string text, ReadAll(message.fds[0].get(), kMaxJudgeDocument));
  if (fds != nullptr) {
    fds->clear();
    for (size_t i = 1; i < message.fds.size(); ++i) fds->push_back(std::move(message.fds[i]));
  }
  auto document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return Error(ErrorCode::kInternal, "a document that is not JSON");
  return document;
}

}  // namespace touchstone

#ifndef TOUCHSTONE_REWARD_JUDGE_JUDGE_WIRE_H_
#define TOUCHSTONE_REWARD_JUDGE_JUDGE_WIRE_H_

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "reward/judge/judge_process.h"

namespace touchstone {

// The documents between server and judge. The artifacts travel beside them as descriptors.
inline constexpr size_t kMaxJudgeDocument = size_t{64} << 20;

nlohmann::json ToJson(const JudgeOptions& options);
Result<JudgeOptions> JudgeOptionsFromJson(const nlohmann::json& json);
nlohmann::json ToJson(const JudgeRequest& request);
Result<JudgeRequest> JudgeRequestFromJson(const nlohmann::json& json);

Result<SecretKey> KeyFromHex(const std::string& hex);
std::string KeyToHex(const SecretKey& key);

// Sends a document in a sealed memfd, descriptors behind it.
Status SendDocument(int channel, const nlohmann::json& document, std::span<const int> fds);
// Receives one; `fds` gets what came behind it.
Result<nlohmann::json> ReceiveDocument(int channel, std::chrono::milliseconds timeout, std::vector<UniqueFd>* fds);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_JUDGE_WIRE_H_

// Bytes ↔ structs, with nlohmann's msgpack as the independent other end.
#include "env/serve/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <regex>
#include <set>
#include <sstream>

namespace touchstone::wire {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;

std::string Pack(const json& value) {
  std::string bytes;
  json::to_msgpack(value, bytes);
  return bytes;
}
json Unpack(const std::string& bytes) { return json::from_msgpack(bytes); }

// --- requests -------------------------------------------------------------------------------------------------------

struct RequestCase {
  const char* method;
  const char* payload;  // every field of the method
};

constexpr RequestCase kRequests[] = {
    {"describe", R"({"v": 1, "client": "c"})"},
    {"reset",
     R"({"v": 1, "client": "c", "tasks": ["add", "mul"], "method": "m", "seed": 18446744073709551615, "profile": "p",
         "reward": "r", "size": "s", "max_turns": 3, "target_speedup": 1.5, "budget_ms": 1000, "exemplars": 2,
         "selector": "top_k", "exemplars_as_of": 7, "group_id": "g", "policy_version": "π", "baseline_source": "b"})"},
    {"step",
     R"({"v": 1, "client": "c", "session": "s", "source": "int x;", "turn": 2, "deadline_ms": 10, "priority": -3,
         "prompt_hash": "h", "policy_version": "p"})"},
    {"step",
     R"({"v": 1, "client": "c", "session": "s", "response": "text", "turn": -1, "deadline_ms": 0, "priority": 0,
         "prompt_hash": "", "policy_version": ""})"},
    {"score",
     R"({"v": 1, "client": "c", "task": "add", "source": "x", "method": "m", "profile": "p", "reward": "r", "size": "s",
         "baseline_source": "b", "deadline_ms": 5, "priority": 10, "group_id": "g", "policy_version": "p",
         "prompt_hash": "h"})"},
    {"validate", R"({"v": 1, "client": "c", "rollout": "r", "deadline_ms": 1, "priority": 1})"},
    {"submit",
     R"({"v": 1, "client": "c", "call": "step", "session": "s", "source": "x", "turn": 0, "deadline_ms": 0,
         "priority": 0, "prompt_hash": "", "policy_version": ""})"},
    {"submit",
     R"({"v": 1, "client": "c", "call": "score", "task": "add", "response": "x", "method": "m", "profile": null,
         "reward": null, "size": null, "baseline_source": null, "deadline_ms": 0, "priority": 0, "group_id": "",
         "policy_version": "", "prompt_hash": ""})"},
    {"collect", R"({"v": 1, "client": "c", "ids": ["a", "b"], "max": 9, "wait_ms": 100, "ack": ["z"]})"},
    {"cancel", R"({"v": 1, "client": "c", "id": "a"})"},
    {"sample",
     R"({"v": 1, "client": "", "task": "add", "selector": "uniform", "count": 4, "seed": 3, "as_of": 2, "group_id": "g",
         "temperature": 0.5, "bucket_width": 0.25})"},
    {"close", R"({"v": 1, "client": "c", "session": "s"})"},
    {"health", R"({"v": 1, "client": ""})"},
    {"metrics", R"({"v": 1, "client": ""})"},
};

TEST(WireTest, EveryRequestGoesThroughTheStructsUnchanged) {
  std::set<std::string> seen;
  for (const RequestCase& row : kRequests) {
    SCOPED_TRACE(row.payload);
    const auto decoded = DecodeRequest("id-1", row.method, Pack(json::parse(row.payload)), Limits());
    ASSERT_TRUE(std::holds_alternative<Call>(decoded)) << std::get<CallError>(decoded).message;
    const Call& call = std::get<Call>(decoded);
    EXPECT_EQ(call.key.request_id, "id-1");
    EXPECT_EQ(MethodOf(call.request), row.method);
    EXPECT_EQ(Unpack(EncodeRequest(call)), json::parse(row.payload));
    seen.insert(row.method);
  }
  EXPECT_EQ(seen.size(), std::size(kMethods));
}

TEST(WireTest, ARequestsFieldsLandWhereTheyBelong) {
  const auto decoded = DecodeRequest("id", "reset", Pack(json::parse(kRequests[1].payload)), Limits());
  const auto& reset = std::get<ResetRequest>(std::get<Call>(decoded).request);
  EXPECT_EQ(reset.key, (RequestKey{"c", "id"}));
  EXPECT_EQ(reset.tasks, (std::vector<std::string>{"add", "mul"}));
  EXPECT_EQ(reset.seed, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(reset.budget, milliseconds(1000));
  EXPECT_EQ(reset.max_turns, 3);
  EXPECT_EQ(reset.policy_version, "π");
  const auto submit = DecodeRequest("id", "submit", Pack(json::parse(kRequests[6].payload)), Limits());
  const auto& inner = std::get<SubmitRequest>(std::get<Call>(submit).request).call;
  EXPECT_EQ(std::get<StepRequest>(inner).key, (RequestKey{"c", "id"}));
}

TEST(WireTest, WhatIsLeftOutOrNilHasItsDefault) {
  const json payload = {{"v", 1}, {"client", "c"}, {"session", "s"}, {"source", "x"}, {"turn", nullptr}};
  const auto decoded = DecodeRequest("id", "step", Pack(payload), Limits());
  const auto& step = std::get<StepRequest>(std::get<Call>(decoded).request);
  EXPECT_EQ(step.turn, -1);
  EXPECT_EQ(step.deadline, milliseconds(0));
}

// A model may answer nothing: that is its outcome, not an error.
TEST(WireTest, AnEmptyResponseIsACandidate) {
  const json payload = {{"v", 1}, {"client", "c"}, {"session", "s"}, {"response", ""}};
  const auto decoded = DecodeRequest("id", "step", Pack(payload), Limits());
  EXPECT_EQ(Unpack(EncodeRequest(std::get<Call>(decoded)))["response"], "");
}

struct ErrorCase {
  const char* what;
  const char* method;
  json change;  // merged over a good `reset` or `step`
  const char* code;
  const char* field;
  std::optional<int64_t> limit;
};

TEST(WireTest, EveryBadFieldIsNamedWithItsLimit) {
  const json step = {{"v", 1}, {"client", "c"}, {"session", "s"}, {"source", "x"}};
  const json reset = {{"v", 1}, {"client", "c"}};
  const json bin = json::binary({1, 2, 3});
  const std::vector<ErrorCase> cases = {
      {"no version", "step", {{"v", nullptr}}, "invalid_argument", "v", {}},
      {"another version", "step", {{"v", 2}}, "version", "v", 1},
      {"no client", "step", {{"client", nullptr}}, "invalid_argument", "client", {}},
      {"empty client", "step", {{"client", ""}}, "invalid_argument", "client", {}},
      {"long client", "step", {{"client", std::string(65, 'c')}}, "invalid_argument", "client", 64},
      {"client with a line feed", "step", {{"client", "a\nb"}}, "invalid_argument", "client", {}},
      {"client of a wrong type", "step", {{"client", 7}}, "invalid_argument", "client", {}},
      {"text as bytes", "step", {{"session", bin}}, "invalid_argument", "session", {}},
      {"no session", "step", {{"session", nullptr}}, "invalid_argument", "session", {}},
      {"empty session", "step", {{"session", ""}}, "invalid_argument", "session", {}},
      {"neither source nor response", "step", {{"source", nullptr}}, "invalid_argument", "source", {}},
      {"source and response", "step", {{"response", "y"}}, "invalid_argument", "source", {}},
      {"long source", "step", {{"source", std::string((1 << 20) + 1, 'x')}}, "invalid_argument", "source", 1 << 20},
      {"not UTF-8", "step", {{"source", "\xff"}}, "invalid_argument", "source", {}},
      {"turn below -1", "step", {{"turn", -2}}, "invalid_argument", "turn", -1},
      {"turn as text", "step", {{"turn", "1"}}, "invalid_argument", "turn", {}},
      {"turn as a float", "step", {{"turn", 1.0}}, "invalid_argument", "turn", {}},
      {"priority", "step", {{"priority", 11}}, "invalid_argument", "priority", 10},
      {"deadline", "step", {{"deadline_ms", -1}}, "invalid_argument", "deadline_ms", 0},
      {"unknown key", "step", {{"sesion", "s"}}, "invalid_argument", "sesion", {}},
      {"negative seed", "reset", {{"seed", -1}}, "invalid_argument", "seed", {}},
      {"too large integer",
       "reset",
       {{"max_turns", uint64_t{1} << 63}},
       "invalid_argument",
       "max_turns",
       std::numeric_limits<int64_t>::max()},
      {"no turns", "reset", {{"max_turns", 0}}, "invalid_argument", "max_turns", 1},
      {"not finite", "reset", {{"target_speedup", std::nan("")}}, "invalid_argument", "target_speedup", {}},
      {"tasks as text", "reset", {{"tasks", "add"}}, "invalid_argument", "tasks", {}},
      {"tasks of numbers", "reset", {{"tasks", {1}}}, "invalid_argument", "tasks", {}},
      {"a list in a list", "reset", {{"tasks", json::array({json::array({"a"})})}}, "invalid_argument", "payload", 2},
      {"many tasks", "reset", {{"tasks", std::vector<std::string>(5000, "a")}}, "invalid_argument", "tasks", 4096},
      {"too many items",
       "reset",
       {{"tasks", std::vector<std::string>(10'001, "a")}},
       "invalid_argument",
       "payload",
       10'000},
      {"long name", "reset", {{"group_id", std::string(257, 'g')}}, "invalid_argument", "group_id", 256},
  };
  for (const ErrorCase& row : cases) {
    SCOPED_TRACE(row.what);
    json payload = std::string(row.method) == "step" ? step : reset;
    payload.update(row.change);
    const auto decoded = DecodeRequest("id", row.method, Pack(payload), Limits());
    ASSERT_TRUE(std::holds_alternative<CallError>(decoded));
    const CallError& error = std::get<CallError>(decoded);
    EXPECT_EQ(error.code, row.code) << error.message;
    EXPECT_EQ(error.field, row.field) << error.message;
    EXPECT_EQ(error.limit, row.limit) << error.message;
    EXPECT_THAT(error.message, HasSubstr(error.field));
    EXPECT_EQ(FaultOf(error), "request");
  }
}

TEST(WireTest, WhatIsNotOneMapIsRefused) {
  const std::string good = Pack({{"v", 1}});
  const struct {
    const char* what;
    std::string payload;
    const char* says;
  } cases[] = {
      {"nothing", "", "not msgpack"},
      {"cut off", good.substr(0, 2), "not msgpack"},
      {"more behind", good + "\x01", "after its end"},
      {"a list", Pack(json::array({1})), "not a map"},
      {"a reserved byte", "\xc1", "not msgpack"},
      {"an extension", "\x81\xa1v\xd4\x05\x00", "not msgpack"},
      {"a list that promises 4 Gi items", "\x81\xa1v\xdd\xff\xff\xff\xff", "too many items"},
      {"a map that promises 4 Gi entries", "\xdf\xff\xff\xff\xff", "too many entries"},
      {"deep", "\x81\xa1v" + std::string(100'000, '\x91'), "nested too deeply"},
      {"a key that is a number", "\x81\x01\x01", "missing"},
      {"a key twice",
       "\x83\xa1v\x01\xa1v\x01\xa6"
       "client\xa1"
       "c",
       "there twice"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.what);
    const auto decoded = DecodeRequest("id", "health", row.payload, Limits());
    ASSERT_TRUE(std::holds_alternative<CallError>(decoded));
    EXPECT_THAT(std::get<CallError>(decoded).message, HasSubstr(row.says));
  }
}

TEST(WireTest, AStringEmbeddedWithZeroBytesIsKeptWhole) {
  const json payload = {{"v", 1}, {"client", "c"}, {"session", "s"}, {"source", std::string("a\0b", 3)}};
  const auto decoded = DecodeRequest("id", "step", Pack(payload), Limits());
  EXPECT_EQ(std::get<StepRequest>(std::get<Call>(decoded).request).action.source, std::string("a\0b", 3));
}

TEST(WireTest, IdMethodAndSizeAreCheckedFirst) {
  const std::string good = Pack({{"v", 1}});
  const auto error = [](const std::variant<Call, CallError>& decoded) { return std::get<CallError>(decoded); };
  EXPECT_EQ(error(DecodeRequest("", "health", good, Limits())).field, "request_id");
  EXPECT_EQ(error(DecodeRequest(std::string(65, 'x'), "health", good, Limits())).limit, 64);
  EXPECT_EQ(error(DecodeRequest("a\x7f", "health", good, Limits())).field, "request_id");
  EXPECT_EQ(error(DecodeRequest("id", "healthy", good, Limits())).field, "method");
  const CallError large = error(DecodeRequest("id", "health", std::string(5 << 20, 'x'), Limits()));
  EXPECT_EQ(large.code, "too_large");
  EXPECT_EQ(large.limit, 4 << 20);
}

// --- replies --------------------------------------------------------------------------------------------------------

EvalResult FullResult() {
  EvalResult result;
  result.id = "e1";
  result.status = EvalStatus::kIncorrect;
  result.reason = "wrong";
  result.dims = {{"n", 4}};
  result.speedup.speedup = 1.25;
  result.trials.emplace_back().kind = "declared";
  result.trials[0].candidate.max_abs = 0.5;
  result.rounds.emplace_back().calls = 7;
  result.evidence.push_back({"input_mutated", Evidence::Severity::kCondemns, "it did", {{"elements", 3}}});
  result.budget_ms = {{"compile", 12.5}};
  result.calibration = {{"handshake_us", 1.5}};
  result.environment = {{"host", "h"}};
  result.layers = {"seccomp"};
  return result;
}

RolloutInfo FullInfo() {
  RolloutInfo info;
  info.rollout = "r1";
  info.result = FullResult();
  info.terms.terms = {{"speedup", 2.0, ""}, {"coverage", std::nullopt, "absent"}};
  info.terms.why_none = "";
  info.reward_preset = "speedup_lcb";
  info.code_begin = 3;
  info.code_end = 9;
  info.code_length = 6;
  return info;
}

StepReply FullStep() {
  StepReply step;
  step.session = "s1";
  TaskText text;
  text.task = "add";
  text.device = {{"cpu", "x"}};
  step.observation.text = std::make_shared<TaskText>(text);
  step.observation.seconds_left = 1.5;
  step.observation.exemplars = {{"r0", "code", 1.5, 0.25}};
  step.reward = 0.5;
  step.reward_increment = 0.25;
  step.best_speedup = 1.5;
  step.terminated = true;
  step.info = FullInfo();
  return step;
}

// One of each, with every field and every list filled.
template <typename Visit>
void ForEveryReply(const Visit& visit) {
  visit("reset", ResetReply{"s1", FullStep().observation, "binary", 0, std::numeric_limits<double>::infinity(), 9});
  visit("step", FullStep());
  visit("score", ScoreReply{std::nullopt, FullInfo()});
  visit("validate", ValidateReply{{1.0, FullInfo()}, 2.0, 1.01, true});
  visit("error", CallError{"busy", "full", "", std::nullopt, 250});
  visit("describe", DescribeReply{"1",
                                  {"add"},
                                  {"default"},
                                  {{"binary", 0, 1, "f", "s"}},
                                  {"quick"},
                                  {"top_k"},
                                  {{"max_source_bytes", 5}},
                                  {{"cpu", "x"}}});
  visit("submit", SubmitReply{true});
  visit("collect", CollectReply{{{"i1", true, "step", EncodeReply(FullStep())},
                                 {"i2", false, "score", EncodeReply(CallError{"internal", "m", "", {}, {}})}},
                                3});
  visit("cancel", CancelReply{true});
  visit("sample", SampleReply{{{"r1", 5, "code", 1.5, 0.5}}, 8});
  visit("close", CloseReply{true});
  visit("health", HealthReply{true, 1.5, 0.25, {{"cpu0", "quarantined", "probe", "0,1", true}}, 1, 2, 3, "/s"});
  visit("metrics", MetricsReply{"# text\n"});
}

TEST(WireTest, EveryReplyGoesThroughTheStructsUnchanged) {
  ForEveryReply([](const char* name, const auto& reply) {
    SCOPED_TRACE(name);
    using Reply = std::decay_t<decltype(reply)>;
    const std::string bytes = EncodeReply(reply);
    EXPECT_EQ(Unpack(bytes)["v"], 1);
    const Result<Reply> decoded = DecodeReply<Reply>(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.error().ToString();
    EXPECT_EQ(EncodeReply(*decoded), bytes);
    // The other end's way of packing (sizes of integers, order of keys) must not matter.
    const Result<Reply> repacked = DecodeReply<Reply>(Pack(Unpack(bytes)));
    ASSERT_TRUE(repacked.ok()) << repacked.error().ToString();
    EXPECT_EQ(Unpack(EncodeReply(*repacked)), Unpack(bytes));
  });
}

TEST(WireTest, AReplyThatLacksAFieldIsCorruptAndOneThatSaysMoreIsFine) {
  json step = Unpack(EncodeReply(FullStep()));
  step["info"]["result"]["speedup"].erase("lower");
  const auto lacking = DecodeReply<StepReply>(Pack(step));
  ASSERT_FALSE(lacking.ok());
  EXPECT_EQ(lacking.error().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(lacking.error().message(), HasSubstr("info.result.speedup.lower"));
  json close = Unpack(EncodeReply(CloseReply{true}));
  close["more"] = "said";
  EXPECT_TRUE(DecodeReply<CloseReply>(Pack(close)).ok());
}

TEST(WireTest, TheResultIsTheRecordsOwnMap) {
  EXPECT_EQ(Unpack(EncodeReply(FullStep()))["info"]["result"], ToJson(FullResult()));
  EXPECT_EQ(Unpack(EncodeReply(ScoreReply()))["info"]["result"], ToJson(EvalResult()));
}

TEST(WireTest, BytesThatAreNotTextDoNotBreakAReply) {
  ScoreReply step;
  step.info.result.diagnostics = "a\xff\xc3(\xed\xa0\x80 ü";
  const json reply = Unpack(EncodeReply(step));
  EXPECT_EQ(reply["info"]["result"]["diagnostics"], "a\ufffd\ufffd(\ufffd\ufffd\ufffd ü");
}

TEST(WireTest, ACollectedReplyIsTheMapOfTheDirectCall) {
  const json collected = Unpack(EncodeReply(CollectReply{{{"i", true, "step", EncodeReply(FullStep())}}, 0}));
  EXPECT_EQ(collected["results"][0]["reply"], Unpack(EncodeReply(FullStep())));
}

TEST(WireTest, ErrorsKeepTheirCodeFieldAndFault) {
  const auto retry = milliseconds(250);
  const CallError bad = ToCallError(Error(ErrorCode::kInvalidArgument, "max_turns: is 0"), retry);
  EXPECT_EQ(bad.code, "invalid_argument");
  EXPECT_EQ(bad.field, "max_turns");
  EXPECT_EQ(ToCallError(Error(ErrorCode::kInvalidArgument, "No such: thing"), retry).field, "");
  const CallError busy = ToCallError(Error(ErrorCode::kExhausted, "full"), retry);
  EXPECT_EQ(busy.code, "busy");
  EXPECT_EQ(busy.retry_after_ms, 250);
  EXPECT_EQ(FaultOf(busy), "environment");
  for (const ErrorCode code :
       {ErrorCode::kInvalidArgument, ErrorCode::kNotFound, ErrorCode::kExhausted, ErrorCode::kClosed,
        ErrorCode::kConflict, ErrorCode::kUnavailable, ErrorCode::kInternal}) {
    EXPECT_EQ(ToError(ToCallError(Error(code, "m"), retry)).code(), code);
  }
}

// --- docs/wire.md ---------------------------------------------------------------------------------------------------

std::string Document(const char* name) {
  std::ifstream file(std::string(TOUCHSTONE_DOCS) + "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void CollectKeys(const json& value, std::set<std::string>& keys) {
  if (value.is_array()) {
    for (const json& item : value) CollectKeys(item, keys);
  }
  if (!value.is_object()) return;
  for (auto item = value.begin(); item != value.end(); ++item) {
    keys.insert(item.key());
    const bool named_elsewhere = item.key() == "result" || item.key() == "device" || item.key() == "limits";
    if (!named_elsewhere) CollectKeys(item.value(), keys);
  }
}

TEST(WireDocumentTest, NamesEveryFieldMethodAndCode) {
  std::set<std::string> names(std::begin(kMethods), std::end(kMethods));
  for (const RequestCase& row : kRequests) CollectKeys(json::parse(row.payload), names);
  ForEveryReply([&](const char*, const auto& reply) { CollectKeys(Unpack(EncodeReply(reply)), names); });
  const std::string text = Document("wire.md");
  for (const std::string& name : names) {
    EXPECT_TRUE(std::regex_search(text, std::regex("[`{,] ?" + name + "[`,}:]")))
        << "docs/wire.md does not name `" << name << "`";
  }
}

std::vector<std::string> HexFrames(const std::string& block) {
  std::vector<std::string> frames;
  const std::regex line(R"((?:^|\n)\S.*?((?: [0-9a-f]{2})+)(?=\n)|\n {8,}((?: ?[0-9a-f]{2})+)(?=\n))");
  for (std::sregex_iterator match(block.begin(), block.end(), line), end; match != end; ++match) {
    std::istringstream digits((*match)[1].matched ? (*match)[1].str() : (*match)[2].str());
    std::string bytes;
    for (std::string digit; digits >> digit;) bytes += static_cast<char>(std::stoi(digit, nullptr, 16));
    frames.push_back(bytes);
  }
  return frames;
}

TEST(WireDocumentTest, TheWorkedExampleIsWhatIsSent) {
  const std::string text = Document("wire.md");
  const size_t example = text.find("### An example");
  ASSERT_NE(example, std::string::npos);
  std::vector<std::string> blocks;
  for (size_t at = example, end = 0; blocks.size() < 2; at = end + 4) {
    at = text.find("\n```\n", at);
    end = text.find("\n```\n", at + 4);
    blocks.push_back(text.substr(at + 4, end + 1 - at - 4));
  }
  const Call call{{"me", "r1"}, CloseRequest{"s1"}};
  EXPECT_EQ(HexFrames(blocks[0]), (std::vector<std::string>{"r1", "close", EncodeRequest(call)}));
  EXPECT_EQ(HexFrames(blocks[1]), (std::vector<std::string>{"r1", "ok", EncodeReply(CloseReply{true})}));
}

}  // namespace
}  // namespace touchstone::wire

#include "env/episode/session_spec.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>

#include "env/episode/method.h"

namespace touchstone {
namespace {

using nlohmann::json;

// The fields of each type, once, for writing and for reading. `v` is a Writer or a Reader, `t` a const or plain T.
template <typename V, typename T>
void Fields(V& v, T& t, const ShownRollout*) {
  v("rollout", t.rollout);
  v("score", t.score);
  v("probability", t.probability);
}

template <typename V, typename T>
void Fields(V& v, T& t, const SessionSpec*) {
  v("task", t.task);
  v("task_hash", t.task_hash);
  v("size", t.size);
  v("interface", t.interface_name);
  v("method", t.method);
  v("profile", t.profile);
  v("reward", t.reward);
  v("feedback", t.feedback);
  v("seed", t.seed);
  v("max_turns", t.max_turns);
  v("target_speedup", t.target_speedup);
  v("budget_ms", t.budget);
  v("exemplars", t.exemplars);
  v("exemplars_as_of", t.exemplars_as_of);
  v("group_id", t.group_id);
  v("policy_version", t.policy_version);
  v("baseline_source", t.baseline_source);
  v("device", t.device);
}

class Writer {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    object_[name] = Write(value);
  }
  json Take() { return std::move(object_); }

 private:
  template <typename T>
  static json Write(const T& value) {
    return value;
  }
  template <typename T>
  static json Write(const std::optional<T>& value) {
    return value ? Write(*value) : json();
  }
  static json Write(const std::chrono::milliseconds& value) { return value.count(); }
  static json Write(const ShownRollout& value) {
    Writer writer;
    Fields(writer, value, &value);
    return writer.Take();
  }
  static json Write(const std::vector<ShownRollout>& values) {
    json list = json::array();
    for (const ShownRollout& value : values) list.push_back(Write(value));
    return list;
  }

  json object_ = json::object();
};

// Keeps the first thing that was wrong.
class Reader {
 public:
  Reader(const json& object, std::string where) : object_(object), where_(std::move(where)) {}

  template <typename T>
  void operator()(const char* name, T& value) {
    known_.insert(name);
    const auto at = object_.find(name);
    if (at == object_.end()) return Fail(name, "is missing");
    Read(*at, name, value);
  }

  std::string Finish() {
    for (const auto& [name, value] : object_.items()) {
      if (known_.count(name) == 0) Fail(name, "is not a field");
    }
    return std::move(error_);
  }

 private:
  void Read(const json& from, const std::string& name, std::string& value) {
    if (!from.is_string()) return Fail(name, "must be a text");
    value = from.get<std::string>();
  }
  void Read(const json& from, const std::string& name, uint64_t& value) {
    if (!from.is_number_unsigned()) return Fail(name, "must be an integer of at least 0");
    value = from.get<uint64_t>();
  }
  void Read(const json& from, const std::string& name, int& value) {
    if (!from.is_number_unsigned() || from.get<uint64_t>() > std::numeric_limits<int>::max()) {
      return Fail(name, "must be an integer of at least 0");
    }
    value = from.get<int>();
  }
  void Read(const json& from, const std::string& name, std::chrono::milliseconds& value) {
    uint64_t count = 0;
    Read(from, name, count);
    if (count > static_cast<uint64_t>(kMaxBudget.count())) return Fail(name, "is above the limit");
    value = std::chrono::milliseconds(count);
  }
  void Read(const json& from, const std::string& name, double& value) {
    if (!from.is_number()) return Fail(name, "must be a number");
    value = from.get<double>();
  }
  template <typename T>
  void Read(const json& from, const std::string& name, std::optional<T>& value) {
    value.reset();
    if (from.is_null()) return;
    Read(from, name, value.emplace());
  }
  void Read(const json& from, const std::string& name, std::vector<ShownRollout>& values) {
    if (!from.is_array()) return Fail(name, "must be a list");
    for (const json& item : from) {
      const std::string place = where_ + name + "[" + std::to_string(values.size()) + "].";
      if (!item.is_object()) return Fail(name, "must be a list of maps");
      Reader reader(item, place);
      ShownRollout& value = values.emplace_back();
      Fields(reader, value, &value);
      if (std::string error = reader.Finish(); !error.empty() && error_.empty()) error_ = std::move(error);
    }
  }
  void Read(const json& from, const std::string& name, std::map<std::string, std::string>& values) {
    if (!from.is_object()) return Fail(name, "must be a map");
    for (const auto& [key, value] : from.items()) Read(value, name + "." + key, values[key]);
  }
  void Fail(const std::string& name, const std::string& what) {
    if (error_.empty()) error_ = where_ + name + ": " + what;
  }

  const json& object_;
  const std::string where_;
  std::set<std::string> known_;
  std::string error_;
};

std::string WhyImpossible(const SessionSpec& spec) {
  if (spec.max_turns < 1 || spec.max_turns > kMaxTurns) return "max_turns: must be 1 … " + std::to_string(kMaxTurns);
  if (spec.target_speedup && !(*spec.target_speedup > 0)) return "target_speedup: must be above 0";
  if (!IsFeedback(spec.feedback)) return "feedback: must be full, class or none";
  return "";
}

}  // namespace

std::string ToJsonText(const SessionSpec& spec) {
  Writer writer;
  Fields(writer, spec, &spec);
  return writer.Take().dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<SessionSpec> SessionSpecFromJson(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return Error(ErrorCode::kInvalidArgument, "session spec: not a JSON object");
  SessionSpec spec;
  Reader reader(object, "");
  Fields(reader, spec, &spec);
  std::string error = reader.Finish();
  if (error.empty()) error = WhyImpossible(spec);
  if (!error.empty()) return Error(ErrorCode::kInvalidArgument, "session spec: " + error);
  return spec;
}

}  // namespace touchstone

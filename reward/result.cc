#include "reward/result.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "reward/result_fields.h"

namespace touchstone {
namespace {

using nlohmann::json;

template <typename E>
struct Name {
  E value;
  std::string_view name;
};

constexpr Name<EvalStatus> kStatuses[] = {
    {EvalStatus::kFormatError, "format_error"},
    {EvalStatus::kRejectedStatic, "rejected_static"},
    {EvalStatus::kCompileError, "compile_error"},
    {EvalStatus::kLoadError, "load_error"},
    {EvalStatus::kRuntimeError, "runtime_error"},
    {EvalStatus::kTimeout, "timeout"},
    {EvalStatus::kOutOfMemory, "out_of_memory"},
    {EvalStatus::kIncorrect, "incorrect"},
    {EvalStatus::kCheating, "cheating"},
    {EvalStatus::kBelowFloor, "below_floor"},
    {EvalStatus::kSuccess, "success"},
    {EvalStatus::kUnstable, "unstable"},
    {EvalStatus::kUnverified, "unverified"},
    {EvalStatus::kEnvironmentError, "environment_error"},
    {EvalStatus::kCancelled, "cancelled"},
    {EvalStatus::kDeadline, "deadline"},
};
constexpr Name<Fault> kFaults[] = {
    {Fault::kNone, "none"},
    {Fault::kCandidate, "candidate"},
    {Fault::kEnvironment, "environment"},
};
constexpr Name<Evidence::Severity> kSeverities[] = {
    {Evidence::Severity::kInfo, "info"},
    {Evidence::Severity::kSuspicious, "suspicious"},
    {Evidence::Severity::kCondemns, "condemns"},
};

template <typename E, size_t N>
std::string_view NameOf(const Name<E> (&names)[N], E value) {
  for (const Name<E>& row : names) {
    if (row.value == value) return row.name;
  }
  CheckFailed(__FILE__, __LINE__, "known enumerator", "a value outside its enum");
}

template <typename E, size_t N>
std::optional<E> ValueOf(const Name<E> (&names)[N], std::string_view name) {
  for (const Name<E>& row : names) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
}

class Writer {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    object_[name] = ToValue(value);
  }
  // A field that follows from others.
  template <typename F>
  void Derived(const char* name, const F& value) {
    object_[name] = std::string(value());
  }
  json Take() { return std::move(object_); }

 private:
  static json ToValue(bool value) { return value; }
  static json ToValue(int value) { return value; }
  static json ToValue(int64_t value) { return value; }
  static json ToValue(uint64_t value) { return value; }
  // JSON has no numbers for these.
  static json ToValue(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  }
  // Compilers and candidates print any bytes; JSON is UTF-8.
  static json ToValue(const std::string& value) {
    return json::parse(json(value).dump(-1, ' ', false, json::error_handler_t::replace));
  }
  static json ToValue(EvalStatus value) { return NameOf(kStatuses, value); }
  static json ToValue(Evidence::Severity value) { return NameOf(kSeverities, value); }
  template <typename T>
  static json ToValue(const std::vector<T>& values) {
    json array = json::array();
    for (const T& value : values) array.push_back(ToValue(value));
    return array;
  }
  template <typename T>
  static json ToValue(const std::map<std::string, T>& values) {
    json object = json::object();
    for (const auto& [name, value] : values) object[ToValue(name).template get<std::string>()] = ToValue(value);
    return object;
  }
  template <typename T>
  static json ToValue(const T& value) {
    Writer writer;
    Fields(writer, value, static_cast<const T*>(nullptr));
    return writer.Take();
  }

  json object_ = json::object();
};

// Reads one object and keeps the first thing that was wrong, with its path.
class Reader {
 public:
  Reader(const json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) Fail(path_.empty() ? "the result" : path_, "is not an object");
  }

  template <typename T>
  void operator()(const char* name, T& value) {
    if (error_.has_value()) return;
    known_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end()) return Fail(PathOf(name), "is missing");
    Get(*found, PathOf(name), value);
  }

  // A field that follows from others: it must be there and say the same.
  template <typename F>
  void Derived(const char* name, const F& value) {
    std::string text;
    (*this)(name, text);
    if (!error_.has_value() && text != value()) Fail(PathOf(name), "must be '" + std::string(value()) + "'");
  }

  Status Finish() {
    for (auto item = object_.begin(); !error_.has_value() && object_.is_object() && item != object_.end(); ++item) {
      if (known_.count(item.key()) == 0) Fail(PathOf(item.key()), "is not a known field");
    }
    if (error_.has_value()) return *error_;
    return {};
  }

 private:
  std::string PathOf(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }
  void Fail(const std::string& path, const std::string& what) {
    if (!error_.has_value()) error_ = Error(ErrorCode::kInvalidArgument, path + ": " + what);
  }

  void Get(const json& from, const std::string& path, bool& value) {
    if (!from.is_boolean()) return Fail(path, "is not true or false");
    value = from.get<bool>();
  }
  void Get(const json& from, const std::string& path, int64_t& value) {
    if (!from.is_number_integer()) return Fail(path, "is not an integer");
    if (from.is_number_unsigned() && from.get<uint64_t>() > std::numeric_limits<int64_t>::max()) {
      return Fail(path, "is too large");
    }
    value = from.get<int64_t>();
  }
  void Get(const json& from, const std::string& path, int& value) {
    int64_t wide = 0;
    Get(from, path, wide);
    if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
      return Fail(path, "is too large");
    }
    value = static_cast<int>(wide);
  }
  void Get(const json& from, const std::string& path, uint64_t& value) {
    // A json made in the program may hold a non-negative integer as a signed one.
    if (!from.is_number_integer() || (!from.is_number_unsigned() && from.get<int64_t>() < 0)) {
      return Fail(path, "is not a non-negative integer");
    }
    value = from.get<uint64_t>();
  }
  void Get(const json& from, const std::string& path, double& value) {
    if (from.is_number()) {
      value = from.get<double>();
    } else if (from == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (from == "inf" || from == "-inf") {
      value = from == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    } else {
      Fail(path, "is not a number");
    }
  }
  void Get(const json& from, const std::string& path, std::string& value) {
    if (!from.is_string()) return Fail(path, "is not a string");
    value = from.get<std::string>();
  }
  template <typename E, size_t N>
  void GetName(const json& from, const std::string& path, const Name<E> (&names)[N], E& value) {
    std::string name;
    Get(from, path, name);
    const std::optional<E> found = ValueOf(names, name);
    if (!found.has_value()) return Fail(path, "has the unknown value '" + name + "'");
    value = *found;
  }
  void Get(const json& from, const std::string& path, EvalStatus& value) { GetName(from, path, kStatuses, value); }
  void Get(const json& from, const std::string& path, Evidence::Severity& value) {
    GetName(from, path, kSeverities, value);
  }
  template <typename T>
  void Get(const json& from, const std::string& path, std::vector<T>& values) {
    if (!from.is_array()) return Fail(path, "is not an array");
    values.resize(from.size());
    for (size_t i = 0; i < values.size(); ++i) Get(from[i], path + "[" + std::to_string(i) + "]", values[i]);
  }
  template <typename T>
  void Get(const json& from, const std::string& path, std::map<std::string, T>& values) {
    if (!from.is_object()) return Fail(path, "is not an object");
    values.clear();
    for (auto item = from.begin(); item != from.end(); ++item) {
      Get(item.value(), path + "." + item.key(), values[item.key()]);
    }
  }
  template <typename T>
  void Get(const json& from, const std::string& path, T& value) {
    Reader reader(from, path);
    Fields(reader, value, static_cast<const T*>(nullptr));
    const Status status = reader.Finish();
    if (!status.ok() && !error_.has_value()) error_ = status.error();
  }

  const json& object_;
  const std::string path_;
  std::set<std::string> known_;
  std::optional<Error> error_;
};

}  // namespace

std::string_view ToString(EvalStatus status) { return NameOf(kStatuses, status); }
std::optional<EvalStatus> EvalStatusFromString(std::string_view name) { return ValueOf(kStatuses, name); }
std::string_view ToString(Fault fault) { return NameOf(kFaults, fault); }
std::string_view ToString(Evidence::Severity severity) { return NameOf(kSeverities, severity); }

Fault FaultOf(EvalStatus status) {
  switch (status) {
    case EvalStatus::kFormatError:
    case EvalStatus::kRejectedStatic:
    case EvalStatus::kCompileError:
    case EvalStatus::kLoadError:
    case EvalStatus::kRuntimeError:
    case EvalStatus::kTimeout:
    case EvalStatus::kOutOfMemory:
    case EvalStatus::kIncorrect:
    case EvalStatus::kCheating:
    case EvalStatus::kBelowFloor:
      return Fault::kCandidate;
    case EvalStatus::kSuccess:
    case EvalStatus::kUnstable:
    case EvalStatus::kUnverified:
    case EvalStatus::kCancelled:
    case EvalStatus::kDeadline:
      return Fault::kNone;
    case EvalStatus::kEnvironmentError:
      return Fault::kEnvironment;
  }
  CheckFailed(__FILE__, __LINE__, "known status", "an EvalStatus outside its enum");
}

nlohmann::json ToJson(const EvalResult& result) {
  Writer writer;
  Fields(writer, result, static_cast<const EvalResult*>(nullptr));
  return writer.Take();
}

Result<EvalResult> EvalResultFromJson(const nlohmann::json& json) {
  EvalResult result;
  Reader reader(json, "");
  Fields(reader, result, static_cast<const EvalResult*>(nullptr));
  TOUCHSTONE_RETURN_IF_ERROR(reader.Finish());
  if (result.schema != 1) {
    return Error(ErrorCode::kInvalidArgument, "schema: is " + std::to_string(result.schema) + ", this program reads 1");
  }
  return result;
}

}  // namespace touchstone

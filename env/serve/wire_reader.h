// msgpack → structs. Private to wire.cc.
#ifndef TOUCHSTONE_ENV_SERVE_WIRE_READER_H_
#define TOUCHSTONE_ENV_SERVE_WIRE_READER_H_

#include <msgpack.hpp>

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "env/serve/wire.h"
#include "env/serve/wire_fields.h"

namespace touchstone::wire {

// Reads the fields of one map and keeps the first thing that was wrong. Of a request (`limits` is set) everything is
// checked and may be left out; of a reply only the types are checked and everything must be there.
class Reader {
 public:
  static constexpr bool kReads = true;

  Reader(const msgpack::object_map& map, const Limits* limits, std::optional<CallError>& error,
         const Reader* outer = nullptr, std::string_view name = {})
      : map_(map), limits_(limits), error_(error), outer_(outer), name_(name) {}

  template <typename T>
  void operator()(std::string_view name, T& value, const Rule& rule = {}) {
    if (error_.has_value()) return;
    const msgpack::object* found = Find(name);
    const bool absent = found == nullptr || (limits_ != nullptr && found->type == msgpack::type::NIL);
    if (!absent) return Get(*found, name, value, rule);
    if (limits_ == nullptr || rule.needed) Fail(name, "is missing");
  }

  // Exactly one of two texts.
  void OneOf(std::string_view first_name, std::string& first, std::string_view second_name, std::string& second,
             const Rule& rule) {
    const msgpack::object* objects[] = {Find(first_name), Find(second_name)};
    const bool has_first = objects[0] != nullptr && objects[0]->type != msgpack::type::NIL;
    const bool has_second = objects[1] != nullptr && objects[1]->type != msgpack::type::NIL;
    const std::string both = std::string(first_name) + " and " + std::string(second_name);
    if (has_first == has_second) return Fail(first_name, "exactly one of " + both + " must be set");
    has_first ? Get(*objects[0], first_name, first, rule) : Get(*objects[1], second_name, second, rule);
  }

  void Embedded(std::string_view name, std::string& encoded) {
    const msgpack::object* found = Find(name);
    if (found == nullptr) return Fail(name, "is missing");
    std::ostringstream bytes;
    msgpack::pack(bytes, *found);
    encoded = bytes.str();
  }

  // Follows from what is read anyway.
  template <typename F>
  void Derived(std::string_view name, const F&) {
    Find(name);
  }

  void Fail(std::string_view name, const std::string& what, std::optional<int64_t> limit = std::nullopt,
            const char* code = "invalid_argument") {
    if (error_.has_value()) return;
    const std::string path = PathOf(name);
    error_ = CallError{code, path + ": " + what, path, limit, std::nullopt};
  }

  // To be called at the end: no key may be left over.
  void ExpectNoOthers() {
    for (uint32_t i = 0; i < map_.size && !error_.has_value(); ++i) {
      if ((seen_ >> i & 1U) != 0) continue;
      const msgpack::object& key = map_.ptr[i].key;
      if (key.type != msgpack::type::STR || !IsUtf8({key.via.str.ptr, key.via.str.size})) {
        return Fail("payload", "a key is not text");
      }
      const std::string name(key.via.str.ptr, std::min<size_t>(key.via.str.size, 64));
      Fail(name, "is not a field of this call, or is there twice");
    }
  }

 private:
  std::string PathOf(std::string_view name) const {
    std::string path(name);
    for (const Reader* reader = this; reader != nullptr; reader = reader->outer_) {
      if (!reader->name_.empty()) path = std::string(reader->name_) + "." + path;
    }
    return path;
  }

  // Keys come in the order of the fields when one of ours wrote them: the search starts where the last one ended.
  const msgpack::object* Find(std::string_view name) {
    for (uint32_t tried = 0; tried < map_.size; ++tried, next_ = next_ + 1 == map_.size ? 0 : next_ + 1) {
      const msgpack::object& key = map_.ptr[next_].key;
      if (key.type != msgpack::type::STR || std::string_view(key.via.str.ptr, key.via.str.size) != name) continue;
      if (next_ < 64) seen_ |= uint64_t{1} << next_;
      const msgpack::object* value = &map_.ptr[next_].val;
      next_ = next_ + 1 == map_.size ? 0 : next_ + 1;
      return value;
    }
    return nullptr;
  }

  void Get(const msgpack::object& from, std::string_view name, bool& value, const Rule&) {
    if (from.type != msgpack::type::BOOLEAN) return Fail(name, "is not true or false");
    value = from.via.boolean;
  }

  void Get(const msgpack::object& from, std::string_view name, uint64_t& value, const Rule&) {
    if (from.type != msgpack::type::POSITIVE_INTEGER) return Fail(name, "is not an integer of 0 or more");
    value = from.via.u64;
  }

  void Get(const msgpack::object& from, std::string_view name, int64_t& value, const Rule& rule) {
    const bool positive = from.type == msgpack::type::POSITIVE_INTEGER;
    if (!positive && from.type != msgpack::type::NEGATIVE_INTEGER) return Fail(name, "is not an integer");
    constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
    if (positive && from.via.u64 > static_cast<uint64_t>(kHighest)) return Fail(name, "is too large", kHighest);
    value = from.via.i64;
    CheckRange(name, static_cast<double>(value), rule);
  }

  void Get(const msgpack::object& from, std::string_view name, int& value, const Rule& rule) {
    int64_t wide = 0;
    Rule narrow = rule;
    narrow.low = std::max<double>(rule.low, std::numeric_limits<int>::min());
    narrow.high = std::min<double>(rule.high, std::numeric_limits<int>::max());
    Get(from, name, wide, narrow);
    if (!error_.has_value()) value = static_cast<int>(wide);
  }

  void Get(const msgpack::object& from, std::string_view name, std::chrono::milliseconds& value, const Rule& rule) {
    int64_t count = 0;
    Get(from, name, count, rule);
    value = std::chrono::milliseconds(count);
  }

  void Get(const msgpack::object& from, std::string_view name, double& value, const Rule& rule) {
    switch (from.type) {
      case msgpack::type::POSITIVE_INTEGER:
        value = static_cast<double>(from.via.u64);
        break;
      case msgpack::type::NEGATIVE_INTEGER:
        value = static_cast<double>(from.via.i64);
        break;
      case msgpack::type::FLOAT32:
      case msgpack::type::FLOAT64:
        value = from.via.f64;
        break;
      default:
        return Fail(name, "is not a number");
    }
    if (limits_ != nullptr && !std::isfinite(value)) return Fail(name, "is not finite");
    CheckRange(name, value, rule);
  }

  void CheckRange(std::string_view name, double value, const Rule& rule) {
    const bool below = value < rule.low;
    if (!below && !(value > rule.high)) return;
    const double limit = below ? rule.low : rule.high;
    char text[64];
    std::snprintf(text, sizeof(text), "must be at %s %.10g", below ? "least" : "most", limit);
    Fail(name, text, static_cast<int64_t>(limit));
  }

  void Get(const msgpack::object& from, std::string_view name, std::string& value, const Rule& rule) {
    if (from.type != msgpack::type::STR) return Fail(name, "is not text");
    const std::string_view text(from.via.str.ptr, from.via.str.size);
    if (limits_ != nullptr) {
      const size_t most = rule.is_source ? limits_->max_source_bytes : rule.max_bytes;
      if (text.size() > most) {
        return Fail(name, "has " + std::to_string(text.size()) + " bytes, at most " + std::to_string(most) + " may be",
                    static_cast<int64_t>(most));
      }
      if (!IsUtf8(text)) return Fail(name, "is not UTF-8");
      if (rule.needed && text.empty()) return Fail(name, "is empty");
    }
    value.assign(text);
  }

  void Get(const msgpack::object& from, std::string_view name, EvalStatus& value, const Rule& rule) {
    std::string text;
    Get(from, name, text, rule);
    if (const auto known = EvalStatusFromString(text)) {
      value = *known;
    } else {
      Fail(name, "is not a status");
    }
  }

  void Get(const msgpack::object& from, std::string_view name, Evidence::Severity& value, const Rule& rule) {
    std::string text;
    Get(from, name, text, rule);
    for (const auto known :
         {Evidence::Severity::kInfo, Evidence::Severity::kSuspicious, Evidence::Severity::kCondemns}) {
      if (ToString(known) == text) return void(value = known);
    }
    Fail(name, "is not a severity");
  }

  template <typename T>
  void Get(const msgpack::object& from, std::string_view name, std::optional<T>& value, const Rule& rule) {
    if (from.type == msgpack::type::NIL) return value.reset();
    Get(from, name, value.emplace(), rule);
  }

  template <typename T>
  void Get(const msgpack::object& from, std::string_view name, std::vector<T>& values, const Rule& rule) {
    if (from.type != msgpack::type::ARRAY) return Fail(name, "is not a list");
    if (limits_ != nullptr && from.via.array.size > rule.max_count) {
      return Fail(name,
                  "has " + std::to_string(from.via.array.size) + " items, at most " + std::to_string(rule.max_count) +
                      " may be",
                  static_cast<int64_t>(rule.max_count));
    }
    values.resize(from.via.array.size);
    for (size_t i = 0; i < values.size() && !error_.has_value(); ++i) Get(from.via.array.ptr[i], name, values[i], rule);
  }

  template <typename T>
  void Get(const msgpack::object& from, std::string_view name, std::map<std::string, T>& values, const Rule& rule) {
    if (from.type != msgpack::type::MAP) return Fail(name, "is not a map");
    values.clear();
    for (uint32_t i = 0; i < from.via.map.size && !error_.has_value(); ++i) {
      std::string key;
      Get(from.via.map.ptr[i].key, name, key, rule);
      Get(from.via.map.ptr[i].val, name, values[key], rule);
    }
  }

  template <typename T>
  void Get(const msgpack::object& from, std::string_view name, T& value, const Rule&) {
    if (from.type != msgpack::type::MAP) return Fail(name, "is not a map");
    Reader inner(from.via.map, limits_, error_, this, name);
    Fields(inner, value);
  }

  const msgpack::object_map& map_;
  const Limits* const limits_;
  std::optional<CallError>& error_;
  const Reader* const outer_;
  const std::string_view name_;
  uint32_t next_ = 0;
  uint64_t seen_ = 0;
};

}  // namespace touchstone::wire

#endif  // TOUCHSTONE_ENV_SERVE_WIRE_READER_H_

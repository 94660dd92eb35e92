// Structs → msgpack. Private to wire.cc.
#ifndef TOUCHSTONE_ENV_SERVE_WIRE_WRITER_H_
#define TOUCHSTONE_ENV_SERVE_WIRE_WRITER_H_

#include <msgpack.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "env/serve/wire_fields.h"

namespace touchstone::wire {

// How many entries the map of a struct has.
class Counter {
 public:
  static constexpr bool kReads = false;

  template <typename T>
  void operator()(std::string_view, const T&, const Rule& = {}) {
    ++count_;
  }
  void OneOf(std::string_view, const std::string&, std::string_view, const std::string&, const Rule&) { ++count_; }
  void Embedded(std::string_view, const std::string&) { ++count_; }
  template <typename F>
  void Derived(std::string_view, const F&) {
    ++count_;
  }

  template <typename T>
  static uint32_t Of(const T& t) {
    Counter counter;
    Fields(counter, t);
    return counter.count_;
  }

 private:
  uint32_t count_ = 0;
};

class Writer {
 public:
  static constexpr bool kReads = false;

  // One message is about as large as the one before.
  Writer() { buffer_.bytes.reserve(last_size_ + last_size_ / 8); }

  template <typename T>
  void operator()(std::string_view name, const T& value, const Rule& = {}) {
    Put(name);
    Put(value);
  }
  // An empty source is left out; where both are empty, the response is what was empty.
  void OneOf(std::string_view first_name, const std::string& first, std::string_view second_name,
             const std::string& second, const Rule&) {
    first.empty() ? (*this)(second_name, second) : (*this)(first_name, first);
  }
  void Embedded(std::string_view name, const std::string& encoded) {
    Put(name);
    buffer_.bytes += encoded;
  }
  template <typename F>
  void Derived(std::string_view name, const F& value) {
    (*this)(name, std::string_view(value()));
  }

  void BeginMap(uint32_t entries) { packer_.pack_map(entries); }
  std::string Take() {
    last_size_ = std::max(buffer_.bytes.size(), last_size_ / 2);
    return std::move(buffer_.bytes);
  }

 private:
  struct Buffer {
    std::string bytes;
    void write(const char* data, size_t size) { bytes.append(data, size); }
  };

  void Put(bool value) { value ? packer_.pack_true() : packer_.pack_false(); }
  void Put(int value) { packer_.pack_int64(value); }
  void Put(int64_t value) { packer_.pack_int64(value); }
  void Put(uint64_t value) { packer_.pack_uint64(value); }
  void Put(double value) { packer_.pack_double(value); }
  void Put(std::chrono::milliseconds value) { packer_.pack_int64(value.count()); }
  void Put(EvalStatus value) { Put(ToString(value)); }
  void Put(Evidence::Severity value) { Put(ToString(value)); }
  // Compilers and candidates print any bytes; msgpack's text is UTF-8.
  void Put(std::string_view text) {
    if (!IsUtf8(text)) return PutText(ToUtf8(text));
    PutText(text);
  }
  void PutText(std::string_view text) {
    packer_.pack_str(static_cast<uint32_t>(text.size()));
    packer_.pack_str_body(text.data(), static_cast<uint32_t>(text.size()));
  }
  void Put(const std::string& text) { Put(std::string_view(text)); }
  template <typename T>
  void Put(const std::optional<T>& value) {
    if (!value.has_value()) {
      packer_.pack_nil();
    } else {
      Put(*value);
    }
  }
  template <typename T>
  void Put(const std::vector<T>& values) {
    packer_.pack_array(static_cast<uint32_t>(values.size()));
    for (const T& value : values) Put(value);
  }
  template <typename T>
  void Put(const std::map<std::string, T>& values) {
    packer_.pack_map(static_cast<uint32_t>(values.size()));
    for (const auto& [name, value] : values) (*this)(name, value);
  }
  template <typename T>
  void Put(const T& t) {
    BeginMap(Counter::Of(t));
    Fields(*this, t);
  }

  static inline thread_local size_t last_size_ = 0;
  Buffer buffer_;
  msgpack::packer<Buffer> packer_{buffer_};
};

}  // namespace touchstone::wire

#endif  // TOUCHSTONE_ENV_SERVE_WIRE_WRITER_H_

#include "sandbox/box/wire.h"

#include <cstring>
#include <type_traits>
#include <vector>

namespace touchstone {
namespace {

class Writer {
 public:
  explicit Writer(MessageKind kind) : bytes_(1, static_cast<char>(kind)) {}
  template <typename T>
  Writer& Put(T value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Writer& Put(const std::string& value) {
    Put(static_cast<uint32_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  Writer& Put(const std::vector<std::string>& values) {
    Put(static_cast<uint32_t>(values.size()));
    for (const std::string& value : values) Put(value);
    return *this;
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what Writer wrote. After the first read past the end everything is zero and ok() is false.
class Reader {
 public:
  Reader(std::string_view bytes, MessageKind kind) : bytes_(bytes) {
    if (IsKind(bytes_, kind)) {
      bytes_.remove_prefix(1);
    } else {
      ok_ = false;
    }
  }
  template <typename T>
  T Get() {
    T value{};
    if (!ok_ || bytes_.size() < sizeof(T)) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  std::string GetString() {
    const auto size = Get<uint32_t>();
    if (!ok_ || bytes_.size() < size) {
      ok_ = false;
      return {};
    }
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  std::vector<std::string> GetStrings() {
    std::vector<std::string> values;
    const auto count = Get<uint32_t>();
    for (uint32_t i = 0; ok_ && i < count; ++i) values.push_back(GetString());
    return values;
  }
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

Error Malformed(const char* what) { return Error(ErrorCode::kInvalidArgument, std::string("malformed ") + what); }

}  // namespace

std::string EncodeStart(const StartRequest& request) {
  Writer writer(MessageKind::kStart);
  const Policy& policy = request.policy;
  writer.Put(policy.minimum_level).Put(policy.mount_proc).Put(policy.allow_exec).Put(policy.disable_for_tests.bits());
  writer.Put(static_cast<uint32_t>(policy.binds.size()));
  for (const Bind& bind : policy.binds) writer.Put(bind.source).Put(bind.target).Put(bind.optional);
  const Limits& limits = request.limits;
  writer.Put(limits.memory_bytes).Put(limits.processes).Put(static_cast<uint64_t>(limits.cpu_time.count()));
  writer.Put(limits.file_bytes).Put(limits.open_files).Put(limits.tmp_bytes).Put(limits.tmp_inodes);
  writer.Put(static_cast<uint32_t>(limits.cpus.size()));
  for (int cpu : limits.cpus) writer.Put(cpu);
  const Program& program = request.program;
  writer.Put(program.argv).Put(program.environment).Put(program.working_directory).Put(program.capture_output);
  writer.Put(request.fd_count);
  return writer.Take();
}

Result<StartRequest> DecodeStart(std::string_view bytes) {
  Reader reader(bytes, MessageKind::kStart);
  StartRequest request;
  Policy& policy = request.policy;
  policy.minimum_level = reader.Get<Level>();
  policy.mount_proc = reader.Get<bool>();
  policy.allow_exec = reader.Get<bool>();
  policy.disable_for_tests = LayerSet(reader.Get<uint32_t>());
  for (auto count = reader.Get<uint32_t>(); reader.ok() && count > 0; --count) {
    Bind bind;
    bind.source = reader.GetString();
    bind.target = reader.GetString();
    bind.optional = reader.Get<bool>();
    policy.binds.push_back(std::move(bind));
  }
  Limits& limits = request.limits;
  limits.memory_bytes = reader.Get<uint64_t>();
  limits.processes = reader.Get<uint32_t>();
  limits.cpu_time = std::chrono::seconds(reader.Get<uint64_t>());
  limits.file_bytes = reader.Get<uint64_t>();
  limits.open_files = reader.Get<uint32_t>();
  limits.tmp_bytes = reader.Get<uint64_t>();
  limits.tmp_inodes = reader.Get<uint32_t>();
  for (auto count = reader.Get<uint32_t>(); reader.ok() && count > 0; --count) limits.cpus.push_back(reader.Get<int>());
  Program& program = request.program;
  program.argv = reader.GetStrings();
  program.environment = reader.GetStrings();
  program.working_directory = reader.GetString();
  program.capture_output = reader.Get<bool>();
  request.fd_count = reader.Get<uint32_t>();
  if (!reader.AtEnd()) return Malformed("start request");
  return request;
}

std::string EncodeStarted(const StartReply& reply) {
  return Writer(MessageKind::kStarted)
      .Put(reply.id)
      .Put(reply.init_pid)
      .Put(reply.uid)
      .Put(reply.layers.bits())
      .Put(reply.present)
      .Put(reply.freezer_v2)
      .Put(reply.cpu_usage_v2)
      .Take();
}

Result<StartReply> DecodeStarted(std::string_view bytes) {
  Reader reader(bytes, MessageKind::kStarted);
  StartReply reply;
  reply.id = reader.Get<uint32_t>();
  reply.init_pid = reader.Get<pid_t>();
  reply.uid = reader.Get<uid_t>();
  reply.layers = LayerSet(reader.Get<uint32_t>());
  reply.present = reader.Get<uint32_t>();
  reply.freezer_v2 = reader.Get<bool>();
  reply.cpu_usage_v2 = reader.Get<bool>();
  if (!reader.AtEnd()) return Malformed("start reply");
  return reply;
}

std::string EncodeGone(const GoneReport& report) {
  return Writer(MessageKind::kGone)
      .Put(report.out_of_memory)
      .Put(report.cpu_time_us)
      .Put(report.peak_memory_bytes)
      .Put(report.leftover_processes)
      .Take();
}

Result<GoneReport> DecodeGone(std::string_view bytes) {
  Reader reader(bytes, MessageKind::kGone);
  GoneReport report;
  report.out_of_memory = reader.Get<bool>();
  report.cpu_time_us = reader.Get<uint64_t>();
  report.peak_memory_bytes = reader.Get<uint64_t>();
  report.leftover_processes = reader.Get<int>();
  if (!reader.AtEnd()) return Malformed("end report");
  return report;
}

std::string EncodeError(const Error& error) {
  return Writer(MessageKind::kError).Put(error.code()).Put(error.message()).Take();
}

Error DecodeError(std::string_view bytes) {
  Reader reader(bytes, MessageKind::kError);
  const auto code = reader.Get<ErrorCode>();
  std::string message = reader.GetString();
  if (!reader.AtEnd()) return Malformed("error");
  return Error(code, std::move(message));
}

}  // namespace touchstone

#include "sandbox/box/file_util.h"

#include <fcntl.h>

#include <charconv>

namespace touchstone {
namespace {

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

UniqueFd OpenFile(const std::string& path, int flags) { return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC)); }

Status WriteKernelFile(const std::string& path, std::string_view value) {
  const UniqueFd fd = OpenFile(path, O_WRONLY);
  if (!fd.valid()) return ErrnoError(ErrorCode::kUnavailable, "opening " + path);
  if (::write(fd.get(), value.data(), value.size()) < 0) {
    return ErrnoError(ErrorCode::kUnavailable, "writing '" + std::string(value) + "' to " + path);
  }
  return {};
}

std::optional<std::string> ReadKernelFile(const std::string& path) {
  const UniqueFd fd = OpenFile(path, O_RDONLY);
  if (!fd.valid()) return std::nullopt;
  std::string text;
  char part[4096];
  while (true) {
    const ssize_t got = ::read(fd.get(), part, sizeof(part));
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(part, static_cast<size_t>(got));
  }
}

std::optional<uint64_t> ReadKernelNumber(const std::string& path) {
  const auto text = ReadKernelFile(path);
  return text ? ParseNumber(*text) : std::nullopt;
}

std::optional<uint64_t> FindKey(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
      return ParseNumber(line.substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

}  // namespace touchstone

#include "sandbox/build/cache_entry.h"

#include <nlohmann/json.hpp>

#include <cstring>

#include "base/hash.h"

namespace touchstone {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "TSTNART1";
constexpr size_t kNumbersEnd = 24;
static_assert(kMagic.size() + 2 * sizeof(uint64_t) == kNumbersEnd);
static_assert(kNumbersEnd + sizeof(Digest) == kCacheEntryHeaderBytes);

void AppendNumber(uint64_t value, std::string& out) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>((value >> shift) & 255);
}

uint64_t ReadNumber(std::string_view bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = (value << 8) | static_cast<uint8_t>(bytes[static_cast<size_t>(i)]);
  return value;
}

Digest DescriptionDigest(std::string_view numbers, std::string_view description) {
  return Hash(std::string(numbers) + std::string(description));
}

Error Corrupt(const std::string& what) { return Error(ErrorCode::kCorrupt, "cache entry: " + what); }

// The member as a T, or nullptr when it is missing or of another type.
template <typename T>
const T* Member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const T*>();
}

bool ReadString(const Json& object, const char* name, std::string& out) {
  const auto* text = Member<Json::string_t>(object, name);
  if (text == nullptr) return false;
  out = *text;
  return true;
}

bool ReadInt(const Json& object, const char* name, int& out) {
  const auto* number = Member<Json::number_integer_t>(object, name);
  if (number == nullptr || *number < 0 || *number > INT32_MAX) return false;
  out = static_cast<int>(*number);
  return true;
}

}  // namespace

std::string EncodeCacheEntry(const std::string& key, const CacheEntry& entry) {
  Json diagnostics = Json::array();
  for (const Diagnostic& d : entry.diagnostics) {
    diagnostics.push_back(
        {{"file", d.file}, {"line", d.line}, {"column", d.column}, {"severity", d.severity}, {"message", d.message}});
  }
  const Json json = {{"key", key},
                     {"kind", std::string(ToString(entry.kind))},
                     {"artifact_hash", entry.artifact_hash},
                     {"diagnostics", std::move(diagnostics)},
                     {"log", entry.log}};
  const std::string description = json.dump(-1, ' ', false, Json::error_handler_t::replace);

  std::string bytes(kMagic);
  AppendNumber(description.size(), bytes);
  AppendNumber(entry.artifact.size(), bytes);
  const Digest digest = DescriptionDigest(bytes, description);
  bytes.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  bytes += description;
  bytes += entry.artifact;
  return bytes;
}

Result<CacheEntry> DecodeCacheDescription(const std::string& key, std::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Corrupt("the description is not a JSON object");
  CacheEntry entry;
  std::string stored_key;
  std::string kind;
  if (!ReadString(json, "key", stored_key) || stored_key != key) return Corrupt("of another key");
  if (!ReadString(json, "kind", kind)) return Corrupt("no kind");
  if (kind == ToString(BuildOutcome::Kind::kBuilt)) {
    entry.kind = BuildOutcome::Kind::kBuilt;
  } else if (kind == ToString(BuildOutcome::Kind::kCompileError)) {
    entry.kind = BuildOutcome::Kind::kCompileError;
  } else {
    return Corrupt("a kind that is never stored");
  }
  const auto* diagnostics = Member<Json::array_t>(json, "diagnostics");
  if (!ReadString(json, "artifact_hash", entry.artifact_hash) || !ReadString(json, "log", entry.log) ||
      diagnostics == nullptr) {
    return Corrupt("a field is missing");
  }
  for (const Json& item : *diagnostics) {
    Diagnostic d;
    if (!item.is_object() || !ReadString(item, "file", d.file) || !ReadInt(item, "line", d.line) ||
        !ReadInt(item, "column", d.column) || !ReadString(item, "severity", d.severity) ||
        !ReadString(item, "message", d.message)) {
      return Corrupt("a diagnostic is incomplete");
    }
    entry.diagnostics.push_back(std::move(d));
  }
  return entry;
}

Result<CacheEntry> DecodeCacheEntry(const std::string& key, std::string_view bytes) {
  if (bytes.size() < kCacheEntryHeaderBytes) return Corrupt("too short");
  if (!bytes.starts_with(kMagic)) return Corrupt("of another format");
  const uint64_t description_bytes = ReadNumber(bytes.substr(8));
  const uint64_t artifact_bytes = ReadNumber(bytes.substr(16));
  const uint64_t rest = bytes.size() - kCacheEntryHeaderBytes;
  if (description_bytes > rest || artifact_bytes != rest - description_bytes) return Corrupt("sizes do not add up");
  const std::string_view description = bytes.substr(kCacheEntryHeaderBytes, description_bytes);
  const Digest digest = DescriptionDigest(bytes.substr(0, kNumbersEnd), description);
  if (std::memcmp(digest.data(), bytes.data() + kNumbersEnd, digest.size()) != 0) return Corrupt("description hash");
  TOUCHSTONE_ASSIGN(CacheEntry entry, DecodeCacheDescription(key, description));
  const std::string_view artifact = bytes.substr(kCacheEntryHeaderBytes + description_bytes);
  const bool built = entry.kind == BuildOutcome::Kind::kBuilt;
  if (built ? HashHex(artifact) != entry.artifact_hash : !artifact.empty()) return Corrupt("artifact hash");
  entry.artifact = artifact;
  return entry;
}

}  // namespace touchstone

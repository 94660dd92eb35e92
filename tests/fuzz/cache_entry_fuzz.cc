// Files of the cache may hold anything after an accident: only what was written is ever read back.
#include <cstdint>

#include "base/hash.h"
#include "sandbox/build/cache_entry.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

namespace {

void RoundTrip(std::string_view bytes) {
  const std::string key = HashHex("key");
  CacheEntry entry;
  entry.kind = bytes.size() % 2 == 0 ? BuildOutcome::Kind::kBuilt : BuildOutcome::Kind::kCompileError;
  if (entry.kind == BuildOutcome::Kind::kBuilt) entry.artifact = bytes;
  entry.artifact_hash = HashHex(entry.artifact);
  entry.diagnostics = {{"candidate.cc", 1, 2, "error", "message"}};
  entry.log = "log";
  std::string file = EncodeCacheEntry(key, entry);
  const auto read = DecodeCacheEntry(key, file);
  FUZZ_EXPECT(read.ok() && read->artifact == entry.artifact && read->kind == entry.kind && read->log == entry.log);
  if (bytes.empty()) return;
  const size_t at = (static_cast<size_t>(static_cast<uint8_t>(bytes[0])) * 257 + bytes.size()) % file.size();
  file[at] = static_cast<char>(file[at] ^ (1 + static_cast<uint8_t>(bytes.back()) % 255));
  FUZZ_EXPECT(!DecodeCacheEntry(key, file).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Without the hash nothing of this is ours; the description is the part with a grammar.
  FUZZ_EXPECT(!DecodeCacheEntry("ab", bytes).ok());
  const auto description = DecodeCacheDescription("ab", bytes);
  if (description.ok()) {
    FUZZ_EXPECT(description->kind == BuildOutcome::Kind::kBuilt ||
                description->kind == BuildOutcome::Kind::kCompileError);
    for (const Diagnostic& d : description->diagnostics) FUZZ_EXPECT(d.line >= 0 && d.column >= 0);
  }
  RoundTrip(bytes);
  return 0;
}

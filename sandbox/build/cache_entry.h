// One file of the artifact cache: what a source came to, and nothing else.
//
//   offset  bytes  content
//        0      8  magic "TSTNART1" (the last character is the version of this format)
//        8      8  bytes of the description, little-endian
//       16      8  bytes of the artifact, little-endian
//       24     32  BLAKE2b-256 of bytes 0 … 23 followed by the description
//       56      …  description: JSON with key, kind, artifact_hash, diagnostics, log
//        …      …  artifact, whose BLAKE2b-256 is the description's artifact_hash
//
// The hashes find accidents of disks and of processes that died, not forgeries: the folder belongs to us alone.
// Do not change the meaning of existing fields: raise the version, and old entries become misses.
#ifndef TOUCHSTONE_SANDBOX_BUILD_CACHE_ENTRY_H_
#define TOUCHSTONE_SANDBOX_BUILD_CACHE_ENTRY_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/build/build.h"

namespace touchstone {

struct CacheEntry {
  BuildOutcome::Kind kind = BuildOutcome::Kind::kCompileError;  // only kBuilt and kCompileError are ever stored
  std::string artifact;                                         // empty for a compile error
  std::string artifact_hash;
  std::vector<Diagnostic> diagnostics;
  std::string log;
};

inline constexpr size_t kCacheEntryHeaderBytes = 56;

std::string EncodeCacheEntry(const std::string& key, const CacheEntry& entry);
// kCorrupt unless `bytes` is exactly what EncodeCacheEntry(key, …) made.
Result<CacheEntry> DecodeCacheEntry(const std::string& key, std::string_view bytes);

// The description alone, without the hash over it (for DecodeCacheEntry and its fuzzing).
Result<CacheEntry> DecodeCacheDescription(const std::string& key, std::string_view json);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BUILD_CACHE_ENTRY_H_

#include "rollout/store/payload.h"

#include <zstd.h>

#include <memory>

#include "base/hash.h"

namespace touchstone {
namespace {

constexpr int kLevel = 1;

// Contexts are large; each thread keeps its own.
ZSTD_CCtx* Compressor() {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_CCtx, Free> context = [] {
    std::unique_ptr<ZSTD_CCtx, Free> made(ZSTD_createCCtx());
    TOUCHSTONE_CHECK(made != nullptr, "out of memory");
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_checksumFlag, 1);
    return made;
  }();
  return context.get();
}

std::string RawHash(std::string_view text) {
  const Digest digest = Hash(text);
  static_assert(sizeof(digest) == format::kHashBytes);
  return std::string(reinterpret_cast<const char*>(digest.data()), digest.size());
}

}  // namespace

Result<Payload> EncodePayload(std::string_view field, std::string_view text) {
  if (text.size() > format::kMaxPayloadBytes) {
    return Error(ErrorCode::kInvalidArgument, std::string(field) + ": " + std::to_string(text.size()) +
                                                  " bytes, the limit is " + std::to_string(format::kMaxPayloadBytes));
  }
  Payload payload;
  if (text.empty()) return payload;
  payload.hash = RawHash(text);
  payload.size = text.size();
  payload.bytes.resize(ZSTD_compressBound(text.size()));
  const size_t written =
      ZSTD_compress2(Compressor(), payload.bytes.data(), payload.bytes.size(), text.data(), text.size());
  if (ZSTD_isError(written) == 0 && written < text.size()) {
    payload.codec = format::Codec::kZstd;
    payload.bytes.resize(written);
    payload.bytes.shrink_to_fit();
  } else {
    payload.bytes = text;
  }
  return payload;
}

Result<std::string> DecodePayload(std::string_view hash, format::Codec codec, size_t size, std::string_view bytes) {
  const auto corrupt = [](std::string_view what) {
    return Error(ErrorCode::kCorrupt, "bytes are not what was written: " + std::string(what));
  };
  if (size > format::kMaxPayloadBytes) return corrupt("size beyond the limit");
  std::string text;
  if (codec == format::Codec::kPlain) {
    text = bytes;
  } else if (codec == format::Codec::kZstd) {
    text.resize(size);
    const size_t got = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(got) != 0) return corrupt(ZSTD_getErrorName(got));
    text.resize(got);
  } else {
    return corrupt("unknown codec");
  }
  if (text.size() != size) return corrupt("another size");
  if (RawHash(text) != hash) return corrupt("another hash");
  return text;
}

Result<PayloadTable> PayloadTable::Create(Database& database) {
  TOUCHSTONE_ASSIGN(Statement put,
                    database.Prepare("INSERT OR IGNORE INTO payloads (hash, codec, size, bytes) VALUES (?, ?, ?, ?)"));
  TOUCHSTONE_ASSIGN(Statement get, database.Prepare("SELECT codec, size, bytes FROM payloads WHERE hash = ?"));
  TOUCHSTONE_ASSIGN(Statement contains, database.Prepare("SELECT 1 FROM payloads WHERE hash = ?"));
  return PayloadTable(std::move(put), std::move(get), std::move(contains));
}

Status PayloadTable::Put(const Payload& payload) {
  if (payload.hash.empty()) return {};
  put_.BindBlob(1, payload.hash)
      .Bind(2, static_cast<int64_t>(payload.codec))
      .Bind(3, static_cast<int64_t>(payload.size))
      .BindBlob(4, payload.bytes);
  return put_.Run();
}

Result<std::string> PayloadTable::Get(std::string_view hash) {
  if (hash.empty()) return std::string();
  const StatementScope scope(get_);
  get_.BindBlob(1, hash);
  TOUCHSTONE_ASSIGN(const bool found, get_.Step());
  if (!found) return Error(ErrorCode::kCorrupt, "no payload of this hash");
  return DecodePayload(hash, static_cast<format::Codec>(get_.Int(0)), static_cast<size_t>(get_.Int(1)), get_.View(2));
}

Result<bool> PayloadTable::Contains(std::string_view hash) {
  if (hash.empty()) return true;
  const StatementScope scope(contains_);
  contains_.BindBlob(1, hash);
  return contains_.Step();
}

Result<ResultTable> ResultTable::Create(Database& database) {
  TOUCHSTONE_ASSIGN(Statement put,
                    database.Prepare("INSERT INTO results (sequence, codec, size, bytes) VALUES (?, ?, ?, ?)"));
  TOUCHSTONE_ASSIGN(Statement get, database.Prepare("SELECT codec, size, bytes FROM results WHERE sequence = ?"));
  return ResultTable(std::move(put), std::move(get));
}

Status ResultTable::Put(uint64_t sequence, const Payload& payload) {
  put_.Bind(1, static_cast<int64_t>(sequence))
      .Bind(2, static_cast<int64_t>(payload.codec))
      .Bind(3, static_cast<int64_t>(payload.size))
      .BindBlob(4, payload.bytes);
  return put_.Run();
}

Result<std::string> ResultTable::Get(uint64_t sequence, std::string_view hash) {
  const StatementScope scope(get_);
  get_.Bind(1, static_cast<int64_t>(sequence));
  TOUCHSTONE_ASSIGN(const bool found, get_.Step());
  if (!found) return Error(ErrorCode::kCorrupt, "it is missing");
  return DecodePayload(hash, static_cast<format::Codec>(get_.Int(0)), static_cast<size_t>(get_.Int(1)), get_.View(2));
}

}  // namespace touchstone

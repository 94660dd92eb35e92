#include "rollout/store.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "rollout/store/group_commit.h"
#include "rollout/store/reader.h"
#include "rollout/store/record_codec.h"
#include "rollout/store/verify.h"
#include "rollout/store/write_connection.h"

namespace touchstone {
namespace {

class SqliteStore final : public RolloutStore {
 public:
  // Without a connection to write: read-only.
  SqliteStore(const StoreOptions& options, std::optional<WriteConnection> connection) : readers_(options.folder) {
    if (!connection) return;
    last_sequence_ = connection->last_sequence();
    writer_ = std::make_unique<GroupCommit>(std::move(*connection), options.max_batch, options.max_waiting,
                                            [this](uint64_t last) { last_sequence_ = last; });
  }

  void Append(RolloutRecord record, Done done) override {
    auto encoded = EncodeRollout(record);
    if (!encoded.ok()) return Refuse(encoded.error(), std::move(done));
    Submit([rollout = std::make_shared<const EncodedRollout>(std::move(encoded).value())](
               WriteConnection& connection) { return connection.Append(*rollout); },
           std::move(done));
  }

  void OpenSession(SessionRecord session, Done done) override {
    const Status names = CheckSession(session);
    if (!names.ok()) return Refuse(names.error(), std::move(done));
    auto spec = EncodePayload("spec", session.spec);
    if (!spec.ok()) return Refuse(spec.error(), std::move(done));
    Submit([session = std::move(session), spec = std::move(spec).value()](
               WriteConnection& connection) { return connection.OpenSession(session, spec); },
           std::move(done));
  }

  void CloseSession(std::string id, UnixMicros when, std::string why, Done done) override {
    if (when == UnixMicros(0)) {
      return Refuse(Error(ErrorCode::kInvalidArgument, "when: 0 means open"), std::move(done));
    }
    Submit([id = std::move(id), when,
            why = std::move(why)](WriteConnection& connection) { return connection.CloseSession(id, when, why); },
           std::move(done));
  }

  void Accept(PendingRecord pending, Done done) override {
    const Status key = CheckRequest(pending.request);
    if (!key.ok()) return Refuse(key.error(), std::move(done));
    if (pending.payload.size() > format::kMaxPayloadBytes) {
      return Refuse(
          Error(ErrorCode::kInvalidArgument, "payload: " + std::to_string(pending.payload.size()) +
                                                 " bytes, the limit is " + std::to_string(format::kMaxPayloadBytes)),
          std::move(done));
    }
    Submit([pending = std::move(pending)](WriteConnection& connection) { return connection.Accept(pending); },
           std::move(done));
  }

  void Forget(RequestKey pending, Done done) override {
    Submit([pending = std::move(pending)](WriteConnection& connection) { return connection.Forget(pending); },
           std::move(done));
  }

  Result<RolloutRecord> Read(const std::string& id) override {
    return readers_.With([&](Reader& reader) -> Result<RolloutRecord> {
      TOUCHSTONE_ASSIGN(std::optional<ItemRow> row, reader.items().FindById(id));
      if (!row) return Error(ErrorCode::kNotFound, "no rollout '" + id + "'");
      return reader.Complete(std::move(*row));
    });
  }

  Result<RolloutRecord> Read(uint64_t sequence) override {
    return readers_.With([&](Reader& reader) -> Result<RolloutRecord> {
      TOUCHSTONE_ASSIGN(std::optional<ItemRow> row, reader.items().FindBySequence(sequence));
      if (!row) return Error(ErrorCode::kNotFound, "no rollout of sequence " + std::to_string(sequence));
      return reader.Complete(std::move(*row));
    });
  }

  Result<std::optional<RolloutRecord>> FindByRequest(const RequestKey& key) override {
    return readers_.With([&](Reader& reader) -> Result<std::optional<RolloutRecord>> {
      TOUCHSTONE_ASSIGN(std::optional<ItemRow> row, reader.items().FindByRequest(key));
      if (!row) return std::optional<RolloutRecord>();
      TOUCHSTONE_ASSIGN(RolloutRecord record, reader.Complete(std::move(*row)));
      return std::optional<RolloutRecord>(std::move(record));
    });
  }

  Result<std::vector<RolloutSummary>> List(const RolloutFilter& filter) override {
    return readers_.With([&](Reader& reader) -> Result<std::vector<RolloutSummary>> {
      TOUCHSTONE_ASSIGN(std::vector<ItemRow> rows, reader.items().List(filter));
      std::vector<RolloutSummary> summaries;
      summaries.reserve(rows.size());
      for (ItemRow& row : rows) summaries.push_back(std::move(row.summary));
      return summaries;
    });
  }

  Result<std::vector<ScoredRollout>> Scored(uint64_t after, uint64_t upto) override {
    return readers_.With([&](Reader& reader) { return reader.items().Scored(after, upto); });
  }

  Result<std::optional<SessionRecord>> FindSession(const std::string& id) override {
    return readers_.With([&](Reader& reader) { return reader.sessions().FindById(id, reader.payloads()); });
  }

  Result<std::optional<SessionRecord>> FindSessionByRequest(const RequestKey& key) override {
    return readers_.With([&](Reader& reader) { return reader.sessions().FindByRequest(key, reader.payloads()); });
  }

  Result<std::vector<SessionRecord>> OpenSessions() override {
    return readers_.With([](Reader& reader) { return reader.sessions().Open(reader.payloads()); });
  }

  Result<std::vector<RolloutRecord>> RolloutsOf(const std::string& session) override {
    return readers_.With([&](Reader& reader) -> Result<std::vector<RolloutRecord>> {
      TOUCHSTONE_ASSIGN(std::vector<ItemRow> rows, reader.items().OfSession(session));
      std::vector<RolloutRecord> records;
      records.reserve(rows.size());
      for (ItemRow& row : rows) {
        TOUCHSTONE_ASSIGN(RolloutRecord record, reader.Complete(std::move(row)));
        records.push_back(std::move(record));
      }
      return records;
    });
  }

  Result<std::vector<PendingRecord>> Pending() override {
    return readers_.With([](Reader& reader) { return reader.pending().All(); });
  }

  uint64_t last_sequence() override {
    if (writer_) return last_sequence_;
    // A failure to look shows at the reader's next call; until then nothing new is known.
    const auto last =
        readers_.With([](Reader& reader) { return reader.database().Int("SELECT max(sequence) FROM rollouts"); });
    if (last.ok()) last_sequence_ = static_cast<uint64_t>(*last);
    return last_sequence_;
  }

  Result<std::string> Verify() override {
    return readers_.With([](Reader& reader) { return VerifyStore(reader); });
  }

 private:
  static Status CheckRequest(const RequestKey& key) {
    TOUCHSTONE_RETURN_IF_ERROR(CheckName("request.client", key.client, NameRule::kMayBeEmpty));
    return CheckName("request.request_id", key.request_id, NameRule::kMustBe);
  }

  static Status CheckSession(const SessionRecord& session) {
    TOUCHSTONE_RETURN_IF_ERROR(CheckName("id", session.id, NameRule::kMustBe));
    TOUCHSTONE_RETURN_IF_ERROR(CheckName("why_closed", session.why_closed, NameRule::kMayBeEmpty));
    return CheckRequest(session.request);
  }

  void Submit(WriteConnection::Work work, Done done) {
    if (!writer_) return done(Error(ErrorCode::kInvalidArgument, "read_only: the store was opened for reading"));
    writer_->Submit(std::move(work), std::move(done));
  }

  void Refuse(Error error, Done done) {
    if (!writer_) return done(std::move(error));
    writer_->Refuse(std::move(error), std::move(done));
  }

  ReaderPool readers_;
  std::atomic<uint64_t> last_sequence_{0};
  std::unique_ptr<GroupCommit> writer_;  // last: its callbacks use the rest
};

}  // namespace

Result<std::unique_ptr<RolloutStore>> RolloutStore::Open(StoreOptions options) {
  const auto within = [&](const Error& error) { return error.Within("rollout store " + options.folder); };
  std::optional<WriteConnection> connection;
  if (!options.read_only) {
    auto opened = WriteConnection::Open(options);
    if (!opened.ok()) return within(opened.error());
    connection.emplace(std::move(opened).value());
  }
  // That it can be read is found out now, not at the first request.
  const auto reader = Reader::Open(options.folder);
  if (!reader.ok()) return within(reader.error());
  return std::unique_ptr<RolloutStore>(std::make_unique<SqliteStore>(options, std::move(connection)));
}

Result<uint64_t> RolloutStore::Append(RolloutRecord record) {
  std::promise<Result<uint64_t>> promise;
  std::future<Result<uint64_t>> future = promise.get_future();
  Append(std::move(record), [&](Result<uint64_t> result) { promise.set_value(std::move(result)); });
  return future.get();
}

}  // namespace touchstone

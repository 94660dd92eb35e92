// The format (docs/rollout-format.md): what damage does, and that what was written once stays readable.
#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "rollout/format.h"
#include "rollout/store/item.h"
#include "rollout/store/payload.h"
#include "rollout/store/row_checksum.h"
#include "tests/reward/full_result.h"
#include "tests/rollout/store_fixture.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// SQL past the store's back.
void Tamper(const std::string& folder, const std::string& sql, const std::string& blob = "") {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder + "/" + format::kDatabaseFile).c_str(), &database), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  if (sqlite3_bind_parameter_count(statement) > 0) {
    sqlite3_bind_blob(statement, 1, blob.data(), static_cast<int>(blob.size()), SQLITE_TRANSIENT);
  }
  ASSERT_EQ(sqlite3_step(statement), SQLITE_DONE) << sqlite3_errmsg(database);
  ASSERT_GT(sqlite3_changes(database), 0) << sql;
  sqlite3_finalize(statement);
  sqlite3_close(database);
}

std::string BlobOf(const std::string& folder, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open((folder + "/" + format::kDatabaseFile).c_str(), &database);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
  TOUCHSTONE_CHECK(sqlite3_step(statement) == SQLITE_ROW, sql);
  std::string blob(static_cast<const char*>(sqlite3_column_blob(statement, 0)),
                   static_cast<size_t>(sqlite3_column_bytes(statement, 0)));
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return blob;
}

RolloutRecord FormatRollout(int number) {
  RolloutRecord record = MakeRollout(number);
  record.session = "s";
  record.turn = number;
  record.group_id = "g";
  record.parent = "r";
  record.exemplars = {"e1", "e2"};
  record.policy_version = "p";
  record.prompt_hash = "h";
  record.response = "```cpp\n" + record.source + "\n```";
  record.reward_increment = 0.25;
  record.best_speedup = 2;
  return record;
}

void Fill(const std::string& folder, int rollouts) {
  const auto store = OpenStore(folder);
  SessionRecord session;
  session.id = "s";
  session.request = {"client", "reset"};
  session.opened = UnixMicros(1);
  session.spec = R"({"task":"add"})";
  ASSERT_THAT(Await([&](RolloutStore::Done done) { store->OpenSession(session, std::move(done)); }), Succeeds());
  const PendingRecord pending{{"client", "waiting"}, UnixMicros(2), "payload"};
  ASSERT_THAT(Await([&](RolloutStore::Done done) { store->Accept(pending, std::move(done)); }), Succeeds());
  for (int i = 0; i < rollouts; ++i) ASSERT_THAT(store->Append(FormatRollout(i)), Succeeds());
}

// Everything that the store gives out, or the first error.
Result<std::string> Contents(const std::string& folder) {
  TOUCHSTONE_ASSIGN(const auto store, RolloutStore::Open(OptionsFor(folder, /*read_only=*/true)));
  std::string all;
  RolloutFilter filter;
  filter.limit = 1'000'000;
  TOUCHSTONE_ASSIGN(const auto rows, store->List(filter));
  for (const RolloutSummary& row : rows) {
    TOUCHSTONE_ASSIGN(const RolloutRecord r, store->Read(row.sequence));
    const nlohmann::json json = {r.sequence,
                                 r.id,
                                 r.request.client,
                                 r.request.request_id,
                                 r.time.count(),
                                 r.session,
                                 r.turn,
                                 r.task,
                                 r.group_id,
                                 r.parent,
                                 r.exemplars,
                                 r.policy_version,
                                 r.prompt_hash,
                                 r.response,
                                 r.source,
                                 ToJson(r.result),
                                 r.reward_preset,
                                 r.reward.value_or(-1),
                                 r.reward_increment,
                                 r.best_speedup,
                                 r.terminated,
                                 r.truncated,
                                 r.code_begin,
                                 r.code_end};
    all += json.dump() + "\n";
  }
  TOUCHSTONE_ASSIGN(const auto sessions, store->OpenSessions());
  for (const SessionRecord& session : sessions) all += session.id + session.spec + session.request.request_id + "\n";
  TOUCHSTONE_ASSIGN(const auto pending, store->Pending());
  for (const PendingRecord& row : pending) all += row.request.request_id + row.payload + "\n";
  return all;
}

Result<std::string> Verify(const std::string& folder) {
  TOUCHSTONE_ASSIGN(const auto store, RolloutStore::Open(OptionsFor(folder, /*read_only=*/true)));
  return store->Verify();
}

class StoreFormatTest : public ::testing::Test {
 protected:
  void SetUp() override { Fill(folder_.path(), 3); }

  // Reading rollout 2, and verifying, say that it is damaged.
  void ExpectDamaged(const std::string& what) {
    const auto store = OpenStore(folder_.path(), /*read_only=*/true);
    EXPECT_THAT(store->Read(uint64_t{2}), Fails(ErrorCode::kCorrupt, "rollout 2 ('r1')")) << what;
    EXPECT_THAT(store->Read(uint64_t{1}), Succeeds()) << what;
    const auto verified = store->Verify();
    ASSERT_FALSE(verified.ok()) << what;
    EXPECT_EQ(verified.error().code(), ErrorCode::kCorrupt) << what;
  }

  TempFolder folder_;
};

// A few bits of a frame mean nothing; what comes out is what was written, or nothing.
TEST(PayloadTest, NoFlippedBitChangesATextSilently) {
  const std::string text = ToJson(FullResult()).dump();
  const Payload payload = EncodePayload("result", text).value();
  ASSERT_EQ(payload.codec, format::Codec::kZstd);
  ASSERT_EQ(DecodePayload(payload.hash, payload.codec, payload.size, payload.bytes).value(), text);
  size_t found = 0;
  for (size_t bit = 0; bit < payload.bytes.size() * 8; ++bit) {
    std::string damaged = payload.bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto decoded = DecodePayload(payload.hash, payload.codec, payload.size, damaged);
    if (decoded.ok()) {
      EXPECT_EQ(*decoded, text) << bit;
    } else {
      EXPECT_EQ(decoded.error().code(), ErrorCode::kCorrupt);
      ++found;
    }
  }
  EXPECT_GT(found, payload.bytes.size() * 8 * 95 / 100);
  for (size_t size = 0; size < payload.bytes.size(); ++size) {
    EXPECT_THAT(DecodePayload(payload.hash, payload.codec, payload.size, payload.bytes.substr(0, size)),
                Fails(ErrorCode::kCorrupt, "not what was written"));
  }
  for (const size_t size : {size_t{0}, text.size() - 1, text.size() + 1, size_t{1} << 40}) {
    EXPECT_THAT(DecodePayload(payload.hash, payload.codec, size, payload.bytes), Fails(ErrorCode::kCorrupt, ""));
  }
  EXPECT_THAT(DecodePayload(payload.hash, static_cast<format::Codec>(2), payload.size, payload.bytes),
              Fails(ErrorCode::kCorrupt, "unknown codec"));
}

TEST_F(StoreFormatTest, AFlippedByteOfATextIsFound) {
  for (const std::string table : {"payloads", "results"}) {
    const std::string where =
        table == "results" ? " WHERE sequence = 2" : " WHERE hash = (SELECT source FROM rollouts WHERE sequence = 2)";
    const std::string bytes = BlobOf(folder_.path(), "SELECT bytes FROM " + table + where);
    for (size_t at = 8; at < bytes.size(); at += bytes.size() / 8) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
      Tamper(folder_.path(), "UPDATE " + table + " SET bytes = ?" + where, damaged);
      ExpectDamaged(table + " byte " + std::to_string(at));
    }
    Tamper(folder_.path(), "UPDATE " + table + " SET bytes = ?" + where, bytes.substr(0, bytes.size() / 2));
    ExpectDamaged(table + " cut");
    Tamper(folder_.path(), "UPDATE " + table + " SET bytes = ?" + where, bytes);
    EXPECT_THAT(Verify(folder_.path()), Succeeds());
  }
}

TEST_F(StoreFormatTest, AnotherTextWithItsOwnRightChecksumIsFoundByTheHash) {
  const Payload other = EncodePayload("source", std::string(500, 'y')).value();
  ASSERT_EQ(other.codec, format::Codec::kZstd);
  Tamper(folder_.path(),
         "UPDATE payloads SET codec = 1, size = 500, bytes = ? WHERE hash = (SELECT source FROM rollouts WHERE "
         "sequence = 2)",
         other.bytes);
  ExpectDamaged("another frame");
}

TEST_F(StoreFormatTest, EachChangedColumnIsFound) {
  const std::vector<std::string> changes = {
      "id = 'r9'",
      "client = 'other'",
      "request_id = 'other'",
      "time = time + 1",
      "turn = 7",
      "task = 'mul'",
      "group_id = ''",
      "parent = 'r7'",
      "exemplars = '[]'",
      "policy_version = 'q'",
      "prompt_hash = ''",
      "response = x''",
      "code_begin = 0",
      "code_end = 5",
      "status = 'incorrect'",
      "status = 'glorious'",
      "speedup = 1.25",
      "score = 9",
      "score = NULL",
      "reward_preset = 'x'",
      "reward = NULL",
      "reward = 2",
      "reward_increment = 1",
      "best_speedup = 3",
      "terminated = 1",
      "truncated = 1",
      "checksum = checksum + 1",
      "source = (SELECT source FROM rollouts WHERE sequence = 1)",
  };
  for (const std::string& change : changes) {
    const TempFolder folder;
    Fill(folder.path(), 3);
    Tamper(folder.path(), "UPDATE rollouts SET " + change + " WHERE sequence = 2");
    const auto store = OpenStore(folder.path(), /*read_only=*/true);
    EXPECT_THAT(store->Read(uint64_t{2}), Fails(ErrorCode::kCorrupt, "rollout 2")) << change;
    EXPECT_THAT(store->Verify(), Fails(ErrorCode::kCorrupt, "rollout 2")) << change;
  }
}

TEST_F(StoreFormatTest, AForgedScoreWithItsChecksumContradictsTheResult) {
  Database database = Database::Open(folder_.path() + "/" + format::kDatabaseFile, Database::Mode::kWrite).value();
  auto items = std::make_unique<ItemTable>(ItemTable::Create(database).value());
  ItemRow row = items->FindBySequence(2).value().value();
  items.reset();
  row.summary.score = 100;
  const auto checksum = static_cast<int64_t>(static_cast<uint64_t>(row.Checksum()) + 2);
  Tamper(folder_.path(),
         "UPDATE rollouts SET score = 100, checksum = " + std::to_string(checksum) + " WHERE sequence = 2");
  EXPECT_THAT(Verify(folder_.path()), Fails(ErrorCode::kCorrupt, "rollout 2 ('r1'): status or score"));
}

TEST_F(StoreFormatTest, MissingRowsAreFound) {
  const auto expect = [](const std::string& change, const std::string& message) {
    const TempFolder folder;
    Fill(folder.path(), 3);
    Tamper(folder.path(), change);
    EXPECT_THAT(Verify(folder.path()), Fails(ErrorCode::kCorrupt, message)) << change;
  };
  expect("DELETE FROM rollouts WHERE sequence = 2", "rollout 2 is missing before rollout 3");
  expect("DELETE FROM results WHERE sequence = 2", "rollout 2 ('r1'): result: it is missing");
  expect("DELETE FROM payloads WHERE hash = (SELECT source FROM rollouts WHERE sequence = 2)",
         "rollout 2 ('r1'): source: no payload");
  expect("DELETE FROM sessions", "session 's' is missing");
  expect("UPDATE sessions SET opened = 5", "session 's': the row");
  expect("UPDATE pending SET payload = x'00'", "pending request 'waiting'");
}

TEST_F(StoreFormatTest, AnUnknownVersionIsRefused) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_.path() + "/" + format::kDatabaseFile).c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "PRAGMA user_version = 2", nullptr, nullptr, nullptr);
  EXPECT_THAT(RolloutStore::Open(OptionsFor(folder_.path())), Fails(ErrorCode::kCorrupt, "schema version 2"));
  sqlite3_exec(database, "PRAGMA user_version = 1; PRAGMA application_id = 7", nullptr, nullptr, nullptr);
  EXPECT_THAT(RolloutStore::Open(OptionsFor(folder_.path())), Fails(ErrorCode::kCorrupt, "not a rollout store"));
  sqlite3_close(database);
}

// Any bit of the file: either it is found, or nothing that the store gives out has changed (free space, counters).
TEST_F(StoreFormatTest, NoFlippedBitOfTheFileChangesAnythingSilently) {
  const TempFolder folder;
  Fill(folder.path(), 40);
  const std::string path = folder.path() + "/" + format::kDatabaseFile;
  const std::string good = ReadFile(path);
  ASSERT_FALSE(fs::exists(path + "-wal"));
  const std::string contents = Contents(folder.path()).value();
  std::mt19937 random(7);
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    const size_t at = random() % good.size();
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
    WriteFile(path, damaged);
    const auto verified = Verify(folder.path());
    if (verified.ok()) {
      EXPECT_EQ(Contents(folder.path()).value(), contents) << "byte " << at;
    } else {
      EXPECT_EQ(verified.error().code(), ErrorCode::kCorrupt) << "byte " << at << ": " << verified.error().ToString();
      ++found;
    }
  }
  EXPECT_GT(found, 60) << "most of the file is free space?";
}

TEST_F(StoreFormatTest, ACutFileIsFound) {
  const std::string path = folder_.path() + "/" + format::kDatabaseFile;
  const std::string good = ReadFile(path);
  for (size_t pages = 1; pages < good.size() / format::kPageBytes; ++pages) {
    WriteFile(path, good.substr(0, pages * format::kPageBytes));
    const auto verified = Verify(folder_.path());
    ASSERT_FALSE(verified.ok()) << pages << " pages";
    EXPECT_EQ(verified.error().code(), ErrorCode::kCorrupt) << verified.error().ToString();
  }
}

// A log that is cut or damaged anywhere, as a crash of the machine may leave it: what comes before that place is there.
TEST_F(StoreFormatTest, ADamagedLogGivesTheCommitsBeforeTheDamage) {
  const TempFolder living;
  const std::string path = living.path() + "/" + format::kDatabaseFile;
  const auto store = OpenStore(living.path());
  for (int i = 0; i < 20; ++i) ASSERT_THAT(store->Append(MakeRollout(i)), Succeeds());
  const std::string database = ReadFile(path);
  const std::string log = ReadFile(path + "-wal");
  std::mt19937 random(11);
  std::vector<uint64_t> kept;
  for (int i = 0; i < 60; ++i) {
    const TempFolder copy;
    const std::string to = copy.path() + "/" + format::kDatabaseFile;
    WriteFile(to, database);
    std::string damaged = log;
    const size_t at = 32 + random() % (log.size() - 32);
    if (i % 2 == 0) {
      damaged.resize(at);
    } else {
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
    }
    WriteFile(to + "-wal", damaged);
    auto opened = RolloutStore::Open(OptionsFor(copy.path()));
    // So early that there was no store yet: a new one begins.
    ASSERT_THAT(opened, Succeeds()) << "byte " << at;
    const uint64_t last = (*opened)->last_sequence();
    EXPECT_LE(last, 20u);
    EXPECT_THAT((*opened)->Verify(), Succeeds());
    EXPECT_EQ((*opened)->List({})->size(), last);
    ASSERT_THAT((*opened)->Append(MakeRollout(100)), Succeeds()) << "it goes on";
    kept.push_back(last);
  }
  EXPECT_GT(*std::max_element(kept.begin(), kept.end()), 10u);
  EXPECT_LT(*std::min_element(kept.begin(), kept.end()), 10u);
}

// The worked example of docs/rollout-format.md.
TEST(StoreGoldenTest, TheExampleOfTheDocumentIsRight) {
  EXPECT_EQ(ToHex(Hash("x")), "d161d71145abeec5ef15abcf0459cec60a27321e2f0ac0ef7ace5254f5944476");
  const Payload payload = EncodePayload("source", "x").value();
  EXPECT_EQ(payload.codec, format::Codec::kPlain);
  EXPECT_EQ(payload.bytes, "x");
  RowChecksum checksum;
  checksum.Add("c").Add("q").Add(int64_t{2}).Add("p");
  EXPECT_EQ(checksum.Value(), -8679950885994810861);
}

// A store of version 1, as text. Should this fail, the format has changed: give it a new version, and keep reading
// this.
TEST(StoreGoldenTest, Version1StaysReadable) {
  const TempFolder folder;
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder.path() + "/" + format::kDatabaseFile).c_str(), &database), SQLITE_OK);
  char* error = nullptr;
  sqlite3_exec(database, ReadFile(TOUCHSTONE_GOLDEN_STORE).c_str(), nullptr, nullptr, &error);
  ASSERT_EQ(error, nullptr) << error;
  sqlite3_close(database);
  // In the log mode that a store has.
  ASSERT_EQ(OpenStore(folder.path())->last_sequence(), 2u);

  EXPECT_THAT(*Verify(folder.path()), HasSubstr("2 rollouts, 1 sessions, 5 texts, 1 pending requests"));
  const TempFolder fresh;
  Fill(fresh.path(), 2);
  EXPECT_EQ(Contents(folder.path()).value(), Contents(fresh.path()).value());
}

}  // namespace
}  // namespace touchstone

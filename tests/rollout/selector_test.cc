#include "rollout/selector.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/rollout/store_fixture.h"

namespace touchstone {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class SelectorTest : public ::testing::Test {
 protected:
  TempFolder folder_;
  std::unique_ptr<RolloutStore> store_ = OpenStore(folder_.path());
  std::unique_ptr<RolloutSelector> selector_ = RolloutSelector::Create(*store_).value();
  int appended_ = 0;

  void Append(double score, const std::string& group = "", const std::string& task = "add") {
    RolloutRecord record = MakeRollout(appended_++, task, score);
    record.group_id = group;
    ASSERT_THAT(store_->Append(record), Succeeds());
  }

  static SelectionRequest Request(const std::string& selector, int count = 2) {
    SelectionRequest request;
    request.task = "add";
    request.selector = selector;
    request.count = count;
    return request;
  }

  static std::vector<std::string> Ids(const Result<Selection>& selection) {
    std::vector<std::string> ids;
    for (const Selected& item : selection.value().items) ids.push_back(item.id);
    return ids;
  }
};

TEST_F(SelectorTest, FollowsTheStore) {
  EXPECT_THAT(selector_->Select(Request("top_k"))->items, IsEmpty());
  Append(1);
  Append(3);
  EXPECT_THAT(Ids(selector_->Select(Request("top_k"))), ElementsAre("r1", "r0"));
  Append(2);
  const auto selection = selector_->Select(Request("top_k"));
  EXPECT_THAT(Ids(selection), ElementsAre("r1", "r2"));
  EXPECT_EQ(selection->as_of, 3u);
  EXPECT_EQ(selection->items[0].sequence, 2u);
  EXPECT_EQ(selection->items[0].score, 3);
}

TEST_F(SelectorTest, ReadsWhatWasThereBefore) {
  Append(1);
  Append(3);
  store_.reset();
  store_ = OpenStore(folder_.path(), /*read_only=*/true);
  selector_ = RolloutSelector::Create(*store_).value();
  EXPECT_THAT(Ids(selector_->Select(Request("top_k"))), ElementsAre("r1", "r0"));
}

TEST_F(SelectorTest, OnlyUnsuspectedSuccessesOfTheTaskTakePart) {
  Append(1);
  Append(5, "", "mul");
  RolloutRecord record = MakeRollout(appended_++, "add", 9);
  record.result.evidence = {{"odd", Evidence::Severity::kSuspicious, "", {}}};
  ASSERT_THAT(store_->Append(record), Succeeds());
  record = MakeRollout(appended_++, "add", 9);
  record.result.status = EvalStatus::kUnverified;
  ASSERT_THAT(store_->Append(record), Succeeds());
  record = MakeRollout(appended_++, "add", 9);
  record.source.clear();
  ASSERT_THAT(store_->Append(record), Succeeds());
  for (const char* selector : {"uniform", "top_k", "cuda_l1"}) {
    EXPECT_THAT(Ids(selector_->Select(Request(selector, 9))), ElementsAre("r0")) << selector;
  }
}

TEST_F(SelectorTest, TheSameSourceNeverComesTwice) {
  for (int i = 0; i < 5; ++i) {
    RolloutRecord record = MakeRollout(appended_++, "add", 1.0 + i);
    record.source = "the same";
    ASSERT_THAT(store_->Append(record), Succeeds());
  }
  Append(2);
  for (const char* selector : {"uniform", "top_k", "cuda_l1"}) {
    EXPECT_THAT(Ids(selector_->Select(Request(selector, 9))), UnorderedElementsAre("r0", "r5")) << selector;
  }
}

TEST_F(SelectorTest, AGroupIsDrawnFromAlone) {
  for (int i = 0; i < 6; ++i) Append(1 + i, i % 2 == 0 ? "even" : "odd");
  SelectionRequest request = Request("uniform", 9);
  request.group_id = "odd";
  EXPECT_THAT(Ids(selector_->Select(request)), UnorderedElementsAre("r1", "r3", "r5"));
  EXPECT_DOUBLE_EQ(selector_->Select(request)->items[0].probability, 1.0 / 3);
  request.group_id = "none";
  EXPECT_THAT(Ids(selector_->Select(request)), IsEmpty());
  // A source that another group had first is still the group's own.
  RolloutRecord record = MakeRollout(appended_++, "add", 7);
  record.source = MakeRollout(1).source;
  record.group_id = "third";
  ASSERT_THAT(store_->Append(record), Succeeds());
  request.group_id = "third";
  EXPECT_THAT(Ids(selector_->Select(request)), ElementsAre("r6"));
}

TEST_F(SelectorTest, ASeedAndAMomentGiveTheSameAgain) {
  for (int i = 0; i < 60; ++i) Append(1 + 0.05 * i, i % 3 == 0 ? "g" : "");
  std::vector<SelectionRequest> requests;
  std::vector<Selection> first;
  for (const char* selector : {"uniform", "top_k", "cuda_l1"}) {
    for (const char* group : {"", "g"}) {
      for (uint64_t seed = 0; seed < 10; ++seed) {
        SelectionRequest request = Request(selector, 3);
        request.group_id = group;
        request.seed = seed;
        first.push_back(selector_->Select(request).value());
        request.as_of = first.back().as_of;
        EXPECT_EQ(request.as_of, 60u);
        requests.push_back(request);
      }
    }
  }
  for (int i = 0; i < 60; ++i) Append(1 + 0.07 * i, "g");
  // Of the same process, and of one that starts later.
  for (const bool anew : {false, true}) {
    if (anew) selector_ = RolloutSelector::Create(*store_).value();
    for (size_t i = 0; i < requests.size(); ++i) {
      const auto again = selector_->Select(requests[i]);
      ASSERT_THAT(again, Succeeds());
      ASSERT_THAT(again->items, SizeIs(3));
      for (size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(again->items[k].id, first[i].items[k].id);
        EXPECT_EQ(again->items[k].probability, first[i].items[k].probability);
      }
    }
  }
}

TEST_F(SelectorTest, SeedsDiffer) {
  for (int i = 0; i < 50; ++i) Append(1 + i);
  std::set<std::vector<std::string>> seen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SelectionRequest request = Request("uniform", 5);
    request.seed = seed;
    seen.insert(Ids(selector_->Select(request)));
  }
  EXPECT_THAT(seen, SizeIs(20));
}

TEST_F(SelectorTest, BadRequestsNameTheirField) {
  Append(1);
  SelectionRequest request = Request("island");
  EXPECT_THAT(selector_->Select(request), Fails(ErrorCode::kNotFound, "cuda_l1, top_k, uniform"));
  request = Request("uniform", 0);
  EXPECT_THAT(selector_->Select(request), Fails(ErrorCode::kInvalidArgument, "count: 0 is not in 1 … 1024"));
  request = Request("uniform");
  request.task.clear();
  EXPECT_THAT(selector_->Select(request), Fails(ErrorCode::kInvalidArgument, "task"));
  request = Request("uniform");
  request.as_of = 2;
  EXPECT_THAT(selector_->Select(request), Fails(ErrorCode::kInvalidArgument, "as_of: 2 is beyond"));
  request = Request("cuda_l1");
  request.temperature = 0;
  EXPECT_THAT(selector_->Select(request), Fails(ErrorCode::kInvalidArgument, "temperature"));
  request = Request("cuda_l1");
  request.bucket_width = 1e-9;
  EXPECT_THAT(selector_->Select(request), Fails(ErrorCode::kInvalidArgument, "bucket_width"));
}

TEST_F(SelectorTest, ThreadsMayDrawWhileOthersAppend) {
  Append(1);
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) Append(1 + 0.1 * i);
  });
  std::vector<std::thread> drawers;
  for (int t = 0; t < 3; ++t) {
    drawers.emplace_back([&] {
      for (uint64_t seed = 0; seed < 200; ++seed) {
        SelectionRequest request = Request("cuda_l1");
        request.seed = seed;
        const auto selection = selector_->Select(request);
        ASSERT_THAT(selection, Succeeds());
        ASSERT_GE(selection->items.size(), 1u);
      }
    });
  }
  writer.join();
  for (std::thread& drawer : drawers) drawer.join();
  EXPECT_EQ(selector_->Select(Request("uniform"))->as_of, 201u);
}

}  // namespace
}  // namespace touchstone

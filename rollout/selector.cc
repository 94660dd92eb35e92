#include "rollout/selector.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "rollout/select/method.h"
#include "rollout/select/pool.h"
#include "rollout/select/random.h"

namespace touchstone {
namespace {

constexpr uint64_t kRowsAtOnce = 10'000;
constexpr double kLeastTemperature = 1e-6;
constexpr double kLeastBucketWidth = 1e-3;

// What is kept of a task: all that has a score, for the pools of groups, and the pool of them all.
struct TaskIndex {
  struct Entry {
    uint64_t sequence = 0;
    double score = 0;
    uint64_t source = 0;
    uint32_t group = 0;
  };
  std::vector<Entry> entries;  // ascending
  std::unordered_map<std::string, uint32_t> groups;
  Pool pool;

  void Add(const ScoredRollout& row) {
    const auto number = static_cast<uint32_t>(groups.size());
    const uint32_t group = groups.try_emplace(row.group_id, number).first->second;
    entries.push_back({row.sequence, row.score, row.source, group});
    pool.Add(row.sequence, row.score, row.source);
  }

  Pool PoolOf(const std::string& group_id) const {
    Pool of_group;
    const auto group = groups.find(group_id);
    if (group == groups.end()) return of_group;
    for (const Entry& entry : entries) {
      if (entry.group == group->second) of_group.Add(entry.sequence, entry.score, entry.source);
    }
    return of_group;
  }
};

Status CheckRequest(const SelectionRequest& request) {
  const auto invalid = [](const std::string& what) { return Error(ErrorCode::kInvalidArgument, what); };
  if (request.task.empty()) return invalid("task: is empty");
  if (request.count < 1 || request.count > kMaxSelection) {
    return invalid("count: " + std::to_string(request.count) + " is not in 1 … " + std::to_string(kMaxSelection));
  }
  if (!std::isfinite(request.temperature) || request.temperature < kLeastTemperature) {
    return invalid("temperature: " + std::to_string(request.temperature) + " is not a number of 0.000001 or more");
  }
  if (!std::isfinite(request.bucket_width) || request.bucket_width < kLeastBucketWidth) {
    return invalid("bucket_width: " + std::to_string(request.bucket_width) + " is not a number of 0.001 or more");
  }
  return {};
}

class FollowingSelector final : public RolloutSelector {
 public:
  explicit FollowingSelector(RolloutStore& store) : store_(store) {}

  Status Follow() {
    const MutexLock lock(mutex_);
    return FollowLocked();
  }

  Result<Selection> Select(const SelectionRequest& request) override {
    TOUCHSTONE_RETURN_IF_ERROR(CheckRequest(request));
    TOUCHSTONE_ASSIGN(const SelectionMethod* const method, FindMethod(request.selector));
    Selection selection;
    {
      const MutexLock lock(mutex_);
      TOUCHSTONE_RETURN_IF_ERROR(FollowLocked());
      if (request.as_of > known_) {
        return Error(ErrorCode::kInvalidArgument, "as_of: " + std::to_string(request.as_of) +
                                                      " is beyond the last rollout, " + std::to_string(known_));
      }
      selection.as_of = request.as_of > 0 ? request.as_of : known_;
      selection.items = DrawLocked(*method, request, selection.as_of);
    }
    for (Selected& item : selection.items) TOUCHSTONE_RETURN_IF_ERROR(Name(item));
    return selection;
  }

 private:
  Status FollowLocked() TOUCHSTONE_REQUIRES(mutex_) {
    const uint64_t last = store_.last_sequence();
    while (known_ < last) {
      const uint64_t upto = std::min(last, known_ + kRowsAtOnce);
      TOUCHSTONE_ASSIGN(const std::vector<ScoredRollout> rows, store_.Scored(known_, upto));
      for (const ScoredRollout& row : rows) tasks_[row.task].Add(row);
      known_ = upto;
    }
    return {};
  }

  std::vector<Selected> DrawLocked(const SelectionMethod& method, const SelectionRequest& request, uint64_t as_of)
      TOUCHSTONE_REQUIRES(mutex_) {
    const auto task = tasks_.find(request.task);
    if (task == tasks_.end()) return {};
    Pool of_group;
    Pool* pool = &task->second.pool;
    if (!request.group_id.empty()) {
      of_group = task->second.PoolOf(request.group_id);
      pool = &of_group;
    }
    Random random(request.seed, request.selector + "\n" + request.task + "\n" + request.group_id);
    std::vector<Selected> items;
    for (const Draw& draw : method.Select(*pool, pool->CountUntil(as_of), request, random)) {
      const Pool::Member& member = pool->members()[draw.member];
      items.push_back({member.sequence, "", member.score, draw.probability});
    }
    return items;
  }

  // Fetches the id, and with it the row, whose checksum is looked at now.
  Status Name(Selected& item) {
    RolloutFilter filter;
    filter.after = item.sequence - 1;
    filter.limit = 1;
    TOUCHSTONE_ASSIGN(const std::vector<RolloutSummary> rows, store_.List(filter));
    if (rows.empty() || rows.front().sequence != item.sequence || rows.front().score != item.score) {
      return Error(ErrorCode::kCorrupt, "rollout " + std::to_string(item.sequence) + ": the row has changed");
    }
    item.id = rows.front().id;
    return {};
  }

  RolloutStore& store_;
  Mutex mutex_;
  uint64_t known_ TOUCHSTONE_GUARDED_BY(mutex_) = 0;  // up to this sequence everything is in
  std::unordered_map<std::string, TaskIndex> tasks_ TOUCHSTONE_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<RolloutSelector>> RolloutSelector::Create(RolloutStore& store) {
  auto selector = std::make_unique<FollowingSelector>(store);
  TOUCHSTONE_RETURN_IF_ERROR(selector->Follow());
  return std::unique_ptr<RolloutSelector>(std::move(selector));
}

}  // namespace touchstone

#include "rollout/store/group_commit.h"

#include <algorithm>
#include <string>
#include <utility>

namespace touchstone {

GroupCommit::GroupCommit(WriteConnection connection, size_t max_batch, size_t max_waiting,
                         std::function<void(uint64_t)> committed)
    : max_batch_(std::max<size_t>(max_batch, 1)),
      max_waiting_(max_waiting),
      committed_(std::move(committed)),
      connection_(std::move(connection)),
      thread_([this] { Run(); }) {}

GroupCommit::~GroupCommit() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void GroupCommit::Submit(WriteConnection::Work work, RolloutStore::Done done) {
  {
    const MutexLock lock(mutex_);
    if (waiting_.size() < max_waiting_) {
      waiting_.push_back({std::move(work), std::move(done), std::nullopt});
      changed_.NotifyOne();
      return;
    }
  }
  Refuse(Error(ErrorCode::kExhausted, std::to_string(max_waiting_) + " writes wait for the disk (max_waiting)"),
         std::move(done));
}

void GroupCommit::Refuse(Error error, RolloutStore::Done done) {
  const MutexLock lock(mutex_);
  waiting_.push_back({nullptr, std::move(done), std::move(error)});
  changed_.NotifyOne();
}

void GroupCommit::Run() {
  for (;;) {
    std::vector<Write> batch = TakeBatch();
    if (batch.empty()) return;
    Commit(batch);
  }
}

// Empty: there is nothing left, and nothing will come.
std::vector<GroupCommit::Write> GroupCommit::TakeBatch() {
  const MutexLock lock(mutex_);
  while (waiting_.empty() && !stopping_) changed_.Wait(mutex_);
  const auto end = waiting_.begin() + static_cast<ptrdiff_t>(std::min(waiting_.size(), max_batch_));
  std::vector<Write> batch(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return batch;
}

void GroupCommit::Commit(std::vector<Write>& batch) {
  std::vector<const WriteConnection::Work*> works;
  works.reserve(batch.size());
  for (const Write& write : batch) {
    if (!write.refused) works.push_back(&write.work);
  }
  const std::vector<Result<uint64_t>> results = connection_.Commit(works);
  committed_(connection_.last_sequence());
  auto result = results.begin();
  for (Write& write : batch) write.done(write.refused ? Result<uint64_t>(*write.refused) : *result++);
}

}  // namespace touchstone

#include "rollout/select/pool.h"

#include <algorithm>
#include <cmath>

namespace touchstone {

void Buckets::Add(uint32_t member, double score) {
  // Far beyond any score; a conversion of what does not fit would be undefined.
  constexpr double kFarthest = 0x1p62;
  const double k = std::clamp(std::floor(score / width_), -kFarthest, kFarthest);
  Bucket& bucket = all_[static_cast<int64_t>(k)];
  bucket.members.push_back(member);
  bucket.sums.push_back(bucket.sums.empty() ? score : bucket.sums.back() + score);
}

void Pool::Add(uint64_t sequence, double score, uint64_t source) {
  if (!sources_.insert(source).second) return;
  const auto member = static_cast<uint32_t>(members_.size());
  members_.push_back({sequence, score});
  for (Buckets& buckets : buckets_) buckets.Add(member, score);
}

size_t Pool::CountUntil(uint64_t sequence) const {
  const auto end = std::upper_bound(members_.begin(), members_.end(), sequence,
                                    [](uint64_t limit, const Member& member) { return limit < member.sequence; });
  return static_cast<size_t>(end - members_.begin());
}

const Buckets& Pool::BucketsOf(double width) {
  const auto found = std::find_if(buckets_.begin(), buckets_.end(),
                                  [width](const Buckets& buckets) { return buckets.width() == width; });
  if (found != buckets_.end()) {
    buckets_.splice(buckets_.begin(), buckets_, found);
    return buckets_.front();
  }
  if (buckets_.size() == kWidthsKept) buckets_.pop_back();
  Buckets& made = buckets_.emplace_front(width);
  for (size_t i = 0; i < members_.size(); ++i) made.Add(static_cast<uint32_t>(i), members_[i].score);
  return made;
}

}  // namespace touchstone

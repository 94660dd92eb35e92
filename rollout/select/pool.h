// The rollouts that a selector draws from.
#ifndef TOUCHSTONE_ROLLOUT_SELECT_POOL_H_
#define TOUCHSTONE_ROLLOUT_SELECT_POOL_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <unordered_set>
#include <vector>

namespace touchstone {

// Members by score in intervals [k Δs, (k+1) Δs), with what gives the mean of each bucket's first members at once: a
// bucket as of an earlier moment is a beginning of the bucket.
class Buckets {
 public:
  struct Bucket {
    std::vector<uint32_t> members;  // ascending
    std::vector<double> sums;       // of the scores up to and with each member
  };
  explicit Buckets(double width) : width_(width) {}
  double width() const { return width_; }
  // `member` is greater than all before it.
  void Add(uint32_t member, double score);
  const std::map<int64_t, Bucket>& all() const { return all_; }

 private:
  double width_;
  std::map<int64_t, Bucket> all_;
};

// Distinct sources in the order in which they were stored, so that the pool as of an earlier moment is a beginning of
// the pool. Holds at most 2³² members. Not thread-safe.
class Pool {
 public:
  struct Member {
    uint64_t sequence = 0;
    double score = 0;
  };

  // In ascending order of sequences. A source that is there already adds nothing.
  void Add(uint64_t sequence, double score, uint64_t source);

  const std::vector<Member>& members() const { return members_; }
  // How many have a sequence of at most this.
  size_t CountUntil(uint64_t sequence) const;
  // Made at the first call, then kept up to date; those of the few latest widths are kept.
  const Buckets& BucketsOf(double width);

 private:
  static constexpr size_t kWidthsKept = 4;
  std::vector<Member> members_;
  std::unordered_set<uint64_t> sources_;
  std::list<Buckets> buckets_;  // the last used one first
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_SELECT_POOL_H_

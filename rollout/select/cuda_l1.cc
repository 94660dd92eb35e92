#include <algorithm>
#include <cmath>
#include <limits>

#include "rollout/select/method.h"

namespace touchstone {
namespace {

// CUDA-L1's contrastive selection (arXiv 2507.14111, §2.4.3, Eq. 1). A bucket i of scores with the mean s̄ᵢ is drawn
// with
//   P(i) = exp((s̄ᵢ − c)/τ) / Σⱼ exp((s̄ⱼ − c)/τ)
// among the buckets that were not drawn yet, then one of its members uniformly: the drawn ones compete, and differ in
// score. c only keeps the numbers small and cancels: the paper takes the mean of all scores, we take the greatest s̄,
// with which nothing can overflow. When every bucket was drawn and more is wanted, the buckets start again with the
// members that are left.
class CudaL1 final : public SelectionMethod {
 public:
  std::vector<Draw> Select(Pool& pool, size_t size, const SelectionRequest& request, Random& random) const override {
    std::vector<Candidate> candidates = Candidates(pool.BucketsOf(request.bucket_width), size);
    std::vector<Draw> draws;
    while (draws.size() < static_cast<size_t>(request.count)) {
      double probability = 0;
      Candidate* drawn = DrawBucket(candidates, request.temperature, random, probability);
      if (drawn == nullptr) {
        if (!StartAgain(candidates)) break;
        continue;
      }
      probability /= static_cast<double>(drawn->urn.left());
      draws.push_back({drawn->bucket->members[drawn->urn.Take(random)], probability});
      drawn->in_round = false;
    }
    return draws;
  }

 private:
  struct Candidate {
    const Buckets::Bucket* bucket;
    double mean;
    Urn urn;  // of its members
    bool in_round = true;
  };

  // Every bucket that has a member among the first `size`.
  static std::vector<Candidate> Candidates(const Buckets& buckets, size_t size) {
    std::vector<Candidate> candidates;
    for (const auto& [k, bucket] : buckets.all()) {
      const auto& members = bucket.members;
      const size_t count = members.empty() || members.back() < size
                               ? members.size()
                               : std::lower_bound(members.begin(), members.end(), size) - members.begin();
      if (count > 0) candidates.push_back({&bucket, bucket.sums[count - 1] / static_cast<double>(count), Urn(count)});
    }
    return candidates;
  }

  // Null: none is left in this round.
  static Candidate* DrawBucket(std::vector<Candidate>& candidates, double temperature, Random& random,
                               double& probability) {
    double greatest = -std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : candidates) {
      if (candidate.in_round) greatest = std::max(greatest, candidate.mean);
    }
    const auto weight = [&](const Candidate& candidate) {
      return candidate.in_round ? std::exp((candidate.mean - greatest) / temperature) : 0.0;
    };
    double total = 0;
    for (const Candidate& candidate : candidates) total += weight(candidate);
    if (total == 0) return nullptr;
    double rest = random.Unit() * total;
    Candidate* drawn = nullptr;
    for (Candidate& candidate : candidates) {
      const double own = weight(candidate);
      if (own == 0) continue;
      drawn = &candidate;  // the last one stands in where rounding leaves a rest
      probability = own / total;
      rest -= own;
      if (rest < 0) break;
    }
    return drawn;
  }

  static bool StartAgain(std::vector<Candidate>& candidates) {
    bool any = false;
    for (Candidate& candidate : candidates) {
      candidate.in_round = candidate.urn.left() > 0;
      any = any || candidate.in_round;
    }
    return any;
  }
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeCudaL1() { return std::make_unique<CudaL1>(); }

}  // namespace touchstone

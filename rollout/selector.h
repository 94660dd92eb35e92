// Which stored rollouts to show again. Only rollouts with a score (record.h) and a source take part; of those with the
// same source the first one, so that none comes twice and none gains by being measured again until it is lucky.
#ifndef TOUCHSTONE_ROLLOUT_SELECTOR_H_
#define TOUCHSTONE_ROLLOUT_SELECTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "rollout/store.h"

namespace touchstone {

struct SelectionRequest {
  std::string task;
  std::string selector = "cuda_l1";  // "uniform", "top_k", "cuda_l1"
  std::string group_id;              // only of this group; empty: all
  int count = 2;                     // 1 … kMaxSelection
  uint64_t seed = 0;
  uint64_t as_of = 0;         // only records up to this sequence; 0: all there are now
  double temperature = 1.0;   // cuda_l1: τ of Eq. 1; 10⁻⁶ or more
  double bucket_width = 0.1;  // cuda_l1: Δs; 10⁻³ or more
};
inline constexpr int kMaxSelection = 1024;

struct Selected {
  uint64_t sequence = 0;
  std::string id;
  double score = 0;
  double probability = 0;  // with which this one was drawn at its place, given the ones before it
};

struct Selection {
  std::vector<Selected> items;  // fewer than `count` where there are not enough
  uint64_t as_of = 0;           // with the request's seed and this, the same items come again
};

// Keeps what it needs of each task in memory and follows the store. Thread-safe.
class RolloutSelector {
 public:
  // Reads what the store has. The store must live longer.
  static Result<std::unique_ptr<RolloutSelector>> Create(RolloutStore& store);
  virtual ~RolloutSelector() = default;
  // kInvalidArgument names the field; kNotFound: no selector of that name; kCorrupt: a drawn row is not what was
  // written. Nothing eligible is an empty selection.
  virtual Result<Selection> Select(const SelectionRequest& request) = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_SELECTOR_H_

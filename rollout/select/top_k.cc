#include <algorithm>
#include <numeric>

#include "rollout/select/method.h"

namespace touchstone {
namespace {

// The best scores, best first; of equal ones the older. Nothing is left to chance.
class TopK final : public SelectionMethod {
 public:
  std::vector<Draw> Select(Pool& pool, size_t size, const SelectionRequest& request,
                           Random& /*random*/) const override {
    const auto& members = pool.members();
    std::vector<size_t> order(size);
    std::iota(order.begin(), order.end(), size_t{0});
    const auto end = order.begin() + static_cast<ptrdiff_t>(std::min(size, static_cast<size_t>(request.count)));
    std::partial_sort(order.begin(), end, order.end(), [&](size_t a, size_t b) {
      return members[a].score != members[b].score ? members[a].score > members[b].score : a < b;
    });
    std::vector<Draw> draws;
    for (auto member = order.begin(); member != end; ++member) draws.push_back({*member, 1.0});
    return draws;
  }
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeTopK() { return std::make_unique<TopK>(); }

}  // namespace touchstone

#include "rollout/select/method.h"

namespace touchstone {
namespace {

// Each as likely as any other, none twice.
class Uniform final : public SelectionMethod {
 public:
  std::vector<Draw> Select(Pool& /*pool*/, size_t size, const SelectionRequest& request,
                           Random& random) const override {
    std::vector<Draw> draws;
    Urn urn(size);
    while (draws.size() < static_cast<size_t>(request.count) && urn.left() > 0) {
      const double probability = 1.0 / static_cast<double>(urn.left());
      draws.push_back({urn.Take(random), probability});
    }
    return draws;
  }
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeUniform() { return std::make_unique<Uniform>(); }

}  // namespace touchstone

#include "rollout/select/method.h"

#include <algorithm>
#include <map>

namespace touchstone {

Result<const SelectionMethod*> FindMethod(std::string_view name) {
  static const auto* const kMethods = [] {
    auto* methods = new std::map<std::string, std::unique_ptr<SelectionMethod>, std::less<>>;
    (*methods)["uniform"] = MakeUniform();
    (*methods)["top_k"] = MakeTopK();
    (*methods)["cuda_l1"] = MakeCudaL1();
    return methods;
  }();
  const auto found = kMethods->find(name);
  if (found != kMethods->end()) return found->second.get();
  std::string names;
  for (const auto& [known, method] : *kMethods) names += (names.empty() ? "" : ", ") + known;
  return Error(ErrorCode::kNotFound, "selector: no selector '" + std::string(name) + "'; there are " + names);
}

size_t Urn::Take(Random& random) {
  // The place among those that are left, then past each one taken before it.
  auto number = static_cast<size_t>(random.Below(left()));
  auto place = taken_.begin();
  for (; place != taken_.end() && *place <= number; ++place) ++number;
  taken_.insert(place, number);
  return number;
}

}  // namespace touchstone

#include "rollout/select/method.h"

#include <algorithm>
#include <map>

namespace touchstone {

Result<const SelectionMethod*> FindMethod(std::string_view name) {
  static const auto* const methods = [] {
    auto* made = new std::map<std::string, std::unique_ptr<SelectionMethod>, std::less<>>;
    (*made)["uniform"] = MakeUniform();
    (*made)["top_k"] = MakeTopK();
    (*made)["cuda_l1"] = MakeCudaL1();
    return made;
  }();
  const auto found = methods->find(name);
  if (found != methods->end()) return found->second.get();
  std::string names;
  for (const auto& [known, method] : *methods) names += (names.empty() ? "" : ", ") + known;
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

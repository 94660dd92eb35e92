// The ways to draw from a pool.
#ifndef TOUCHSTONE_ROLLOUT_SELECT_METHOD_H_
#define TOUCHSTONE_ROLLOUT_SELECT_METHOD_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rollout/select/pool.h"
#include "rollout/select/random.h"
#include "rollout/selector.h"

namespace touchstone {

struct Draw {
  size_t member = 0;
  double probability = 0;  // as Selected::probability
};

// Stateless.
class SelectionMethod {
 public:
  virtual ~SelectionMethod() = default;
  // At most `request.count` different ones of the pool's first `size` members. Depends on nothing but these arguments.
  virtual std::vector<Draw> Select(Pool& pool, size_t size, const SelectionRequest& request, Random& random) const = 0;
};

std::unique_ptr<SelectionMethod> MakeUniform();
std::unique_ptr<SelectionMethod> MakeTopK();
std::unique_ptr<SelectionMethod> MakeCudaL1();

// kNotFound names those that there are.
Result<const SelectionMethod*> FindMethod(std::string_view name);

// Numbers from 0 to size - 1, each taken at most once.
class Urn {
 public:
  explicit Urn(size_t size) : size_(size) {}
  size_t left() const { return size_ - taken_.size(); }
  // Uniform among those that are left; there must be one.
  size_t Take(Random& random);

 private:
  size_t size_;
  std::vector<size_t> taken_;  // ascending
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_SELECT_METHOD_H_

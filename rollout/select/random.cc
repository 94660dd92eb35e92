#include "rollout/select/random.h"

#include <string>

#include "base/hash.h"

namespace touchstone {

Random::Random(uint64_t seed, std::string_view text) : state_(0) {
  const Digest digest = Hash(std::to_string(seed) + ":" + std::string(text));
  for (int i = 7; i >= 0; --i) state_ = state_ << 8 | digest[i];
}

uint64_t Random::Next() {
  state_ += 0x9E3779B97F4A7C15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

uint64_t Random::Below(uint64_t bound) {
  // What does not fill a whole multiple of `bound` is drawn again: otherwise the low values would come more often.
  const uint64_t surplus = (UINT64_MAX % bound + 1) % bound;
  for (;;) {
    const uint64_t value = Next();
    if (value <= UINT64_MAX - surplus) return value % bound;
  }
}

double Random::Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

}  // namespace touchstone

#ifndef TOUCHSTONE_ROLLOUT_SELECT_RANDOM_H_
#define TOUCHSTONE_ROLLOUT_SELECT_RANDOM_H_

#include <cstdint>
#include <string_view>

namespace touchstone {

// SplitMix64 (Steele, Lea, Flood 2014), written out with its distributions, because those of the standard library give
// other numbers with another library.
class Random {
 public:
  // The same seed gives unrelated numbers for other texts.
  Random(uint64_t seed, std::string_view text);

  uint64_t Next();
  uint64_t Below(uint64_t bound);  // uniform in [0, bound); bound > 0
  double Unit();                   // uniform in [0, 1), a multiple of 2⁻⁵³

 private:
  uint64_t state_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_SELECT_RANDOM_H_

#ifndef TOUCHSTONE_REWARD_PRESETS_CUDA_L1_H_
#define TOUCHSTONE_REWARD_PRESETS_CUDA_L1_H_

#include "reward/presets/preset.h"

namespace touchstone {

inline constexpr int kCudaL1Buckets = 7;
inline constexpr double kCudaL1MaxVariance = 0.005;  // of the means of the buckets, population, absolute

// The reward of CUDA-L1 (arXiv:2507.14111, section 2.4.4) of a timed, successful record: the median of the means of
// seven buckets of rounds, none where the method discards the evaluation.
Reward CudaL1Reward(const EvalResult& result, double best_before);

// Two decimals, toward 1: 1.118 is 1.11, 0.992 is 1.
double RoundTowardOne(double speedup);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_PRESETS_CUDA_L1_H_

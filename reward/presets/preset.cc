#include "reward/presets/preset.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reward/presets/cuda_l1.h"

namespace touchstone {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What every formula is made of.
struct Facts {
  bool correct = false;           // C: right on all inputs, and no rule was broken
  std::optional<double> speedup;  // s, 0 where it is not correct; none: nothing was timed
  std::optional<double> lower;    // the same at the lower end of the interval
};

// Nothing that the candidate did: no reward may follow.
bool HasNoReward(EvalStatus status) {
  return status == EvalStatus::kEnvironmentError || status == EvalStatus::kCancelled || status == EvalStatus::kDeadline;
}

Facts FactsOf(const EvalResult& result) {
  Facts facts;
  // What could not be measured well enough is right all the same; its rewarded speedup is the judge's lower bound, or
  // 0.
  const bool unsteady = result.status == EvalStatus::kUnstable || result.status == EvalStatus::kUnverified;
  facts.correct = unsteady || result.status == EvalStatus::kSuccess;
  if (facts.correct && !unsteady && !(result.rewarded_speedup > 0)) return facts;
  facts.speedup = facts.correct ? result.rewarded_speedup : 0;
  facts.lower = facts.correct ? result.rewarded_lower_bound : 0;
  return facts;
}

RewardTerm Term(std::string name, std::optional<double> value, std::string why_undefined = "") {
  return {std::move(name), value, value ? "" : std::move(why_undefined)};
}

// C, s and then what `formula` makes of s; none where it asks for a speedup and nothing was timed.
template <typename Formula>
Reward OfSpeedup(const Facts& facts, const std::optional<double>& speedup, Formula formula) {
  Reward reward;
  reward.terms = {Term("correct", facts.correct ? 1 : 0),
                  Term("speedup", speedup, "the profile times nothing: correctness only")};
  if (speedup) {
    reward.value = formula(*speedup);
  } else {
    reward.why_none = "the profile times nothing: correctness only";
  }
  return reward;
}

Reward Binary(const EvalResult& result, double) {
  const double correct = FactsOf(result).correct ? 1 : 0;
  return {correct, "", {Term("correct", correct)}};
}

Reward Speedup(const EvalResult& result, double) {
  const Facts facts = FactsOf(result);
  return OfSpeedup(facts, facts.speedup, [](double s) { return s; });
}

Reward SpeedupLcb(const EvalResult& result, double) {
  const Facts facts = FactsOf(result);
  Reward reward = OfSpeedup(facts, facts.lower, [](double s) { return s; });
  reward.terms[1].name = "speedup_lower_bound";
  return reward;
}

Reward Kevin(const EvalResult& result, double) {
  const Facts facts = FactsOf(result);
  return OfSpeedup(facts, facts.speedup, [&](double s) { return facts.correct ? 0.3 + s : 0; });
}

// Nothing that could be loaded came of it.
bool IsNotBuilt(const EvalResult& result) {
  switch (result.status) {
    case EvalStatus::kFormatError:
    case EvalStatus::kRejectedStatic:
    case EvalStatus::kCompileError:
    case EvalStatus::kLoadError:
      return true;
    default:
      return result.phase == "compile";  // time or memory ran out there
  }
}

Reward Kernrl(const EvalResult& result, double) {
  const Facts facts = FactsOf(result);
  Reward reward = OfSpeedup(facts, facts.speedup, [&](double s) {
    if (!facts.correct) return IsNotBuilt(result) ? -0.5 : -0.25;
    return s < 1 ? 0.5 * (s - 1) : std::min(s - 1, 2.0);
  });
  reward.terms.insert(reward.terms.begin(), Term("built", IsNotBuilt(result) ? 0 : 1));
  return reward;
}

Reward CudaAgent(const EvalResult& result, double) {
  const Facts facts = FactsOf(result);
  // More than 5 % less time than the baseline: (t0 - t) / t0 > 0.05.
  const auto faster = [](double s) { return s > 0 && 1 - 1 / s > 0.05; };
  Reward reward = OfSpeedup(facts, facts.speedup, [&](double s) {
    if (!facts.correct) return -1.0;
    return faster(s) ? 2.0 : 1.0;
  });
  reward.terms.push_back(
      Term("faster_than_compiled", std::nullopt, "the record has one baseline; 3 needs a compiled one beside it"));
  return reward;
}

Reward AutoTriton(const EvalResult& result, double) {
  const bool in_form = result.status != EvalStatus::kFormatError && result.status != EvalStatus::kRejectedStatic;
  const double passed = FactsOf(result).correct ? 1 : 0;
  return {passed, "", {Term("rule", in_form ? 1 : 0), Term("passed", passed)}};
}

Reward DrKernelCode(const EvalResult& result, double) {
  const Facts facts = FactsOf(result);
  Reward reward = OfSpeedup(facts, facts.speedup,
                            [&](double s) { return (facts.correct ? 0.5 : 0) + 0.5 * std::clamp(s, 0.0, 3.0); });
  reward.terms.push_back(Term("time_coverage", std::nullopt, "no profiling run: the sum is without it"));
  return reward;
}

Reward CudaL1(const EvalResult& result, double best_before) {
  if (result.status == EvalStatus::kUnstable) return {std::nullopt, "discarded: unstable", {}};
  if (result.status == EvalStatus::kUnverified) {
    return {std::nullopt, "rejected: a second measurement disagreed", {}};
  }
  const Facts facts = FactsOf(result);
  if (!facts.correct) return OfSpeedup(facts, facts.speedup, [](double s) { return s; });
  return CudaL1Reward(result, best_before);
}

template <Reward (*formula)(const EvalResult&, double)>
Reward OrNone(const EvalResult& result, double best_before) {
  if (!HasNoReward(result.status)) return formula(result, best_before);
  return {std::nullopt, "no reward follows from status " + std::string(ToString(result.status)), {}};
}

constexpr RewardPreset kPresets[] = {
    {"autotriton", "rule and passed", "AutoTriton, arXiv:2507.05687", 0, 1, OrNone<AutoTriton>},
    {"binary", "C", "CUDA-L1, arXiv:2507.14111, section 2.3 (self-supervised stage)", 0, 1, OrNone<Binary>},
    {"cuda_agent", "-1 wrong; 1 right; 2 more than 5 % faster; 3 than a compiled baseline, too",
     "CUDA Agent, arXiv:2602.24286, milestone reward", -1, 3, OrNone<CudaAgent>},
    {"cuda_l1", "median of the means of 7 buckets of rounds, rounded toward 1; none if their variance is above 0.005",
     "CUDA-L1, arXiv:2507.14111, section 2.4.4", 0, kInfinity, OrNone<CudaL1>},
    {"drkernel_code", "0.5 C + 0.5 clip(s, 0, 3) + 0.5 time_coverage C",
     "Dr. Kernel, arXiv:2602.05885; hkust-nlp/KernelGYM reward_client.py", 0, 2.5, OrNone<DrKernelCode>},
    {"kernrl", "-0.5 not built; -0.25 wrong; 0.5 (s - 1) slower; min(s - 1, 2) faster",
     "meta-pytorch/OpenEnv, envs/kernrl", -0.5, 2, OrNone<Kernrl>},
    {"kevin", "C (0.3 + s)", "Kevin-32B, arXiv:2507.11948, section 3.1", 0, kInfinity, OrNone<Kevin>},
    {"speedup", "s", "the judge's estimate", 0, kInfinity, OrNone<Speedup>},
    {"speedup_lcb", "lower confidence bound of s", "the judge's interval", 0, kInfinity, OrNone<SpeedupLcb>},
};

}  // namespace

std::span<const RewardPreset> RewardPresets() { return kPresets; }

Result<const RewardPreset*> FindRewardPreset(std::string_view name) {
  std::string names;
  for (const RewardPreset& preset : kPresets) {
    if (preset.name == name) return &preset;
    names += (names.empty() ? "" : ", ") + std::string(preset.name);
  }
  return Error(ErrorCode::kNotFound, "no reward '" + std::string(name) + "'; there are: " + names);
}

double RewardIncrement(const std::optional<double>& best_before, const std::optional<double>& reward) {
  if (!reward) return 0;
  if (!best_before) return *reward;
  return std::max(0.0, *reward - *best_before);
}

}  // namespace touchstone

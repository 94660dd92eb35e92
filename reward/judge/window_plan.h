#ifndef TOUCHSTONE_REWARD_JUDGE_WINDOW_PLAN_H_
#define TOUCHSTONE_REWARD_JUDGE_WINDOW_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "reward/judge/layout.h"
#include "reward/judge/profile.h"

namespace touchstone {

// What the host gives: found once for each judge process.
struct HostFacts {
  double handover_bound_us = 0;  // thaw and ping; beyond it a round is void (V1)
  double handover_us = 0;        // what a hand-over takes as a rule: that much of it is not charged
  double handshake_us = 0;       // an empty command, doorbell → done
  double bandwidth_gb_s = 0;     // generous upper bounds of one core, for floors (V10)
  double flops_gflop_s = 0;
  uint64_t hot_bytes = 0;  // sets that together stay below this are "hot"
};

// How many calls a window makes, and through how many sets they rotate.
struct WindowPlan {
  size_t calls = 1;  // K
  size_t sets = 1;
  bool hot = false;                 // all sets fit into half of the second-level cache
  bool resolution_limited = false;  // shorter than the hand-over and the hand-shake ask for
};

// K makes the faster side's window as long as the profile asks, 20 times the bound of the hand-over and 100 times the
// hand-shake, within what memory, pages and the slower side's time allow. Pure.
WindowPlan PlanWindow(const SetLayout& layout, const MeasurementProfile& profile, const HostFacts& host,
                      double baseline_call_us, double candidate_call_us);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_WINDOW_PLAN_H_

#include "reward/judge/window_plan.h"

#include <algorithm>
#include <cmath>

namespace touchstone {
namespace {

constexpr double kWindowPerHandover = 20;
constexpr double kWindowPerHandshake = 100;
constexpr double kMaxWindowUs = 500'000;
constexpr uint64_t kMaxWindowBytes = uint64_t{128} << 20;
// Of a block, for the intermediates of a runner that places its outputs itself.
constexpr uint64_t kArenaReserve = uint64_t{64} << 20;
// "cold" by choice: the sets take more than twice the second-level cache.
constexpr uint64_t kColdPerHot = 4;

}  // namespace

WindowPlan PlanWindow(const SetLayout& layout, const MeasurementProfile& profile, const HostFacts& host,
                      double baseline_call_us, double candidate_call_us) {
  const double fast_us = std::max(0.01, std::min(baseline_call_us, candidate_call_us));
  const double slow_us = std::max(baseline_call_us, candidate_call_us);
  const double window_us =
      std::max({static_cast<double>(profile.window.count()), kWindowPerHandover * host.handover_bound_us,
                kWindowPerHandshake * host.handshake_us});
  uint64_t output_bytes = 0;
  for (const size_t t : layout.outputs) output_bytes += layout.tensors[t].bytes;
  const uint64_t reserve = std::min(kArenaReserve, profile.block_bytes / 4);
  const uint64_t usable = std::min(profile.block_bytes - reserve, kMaxWindowBytes);
  const uint64_t by_memory = std::max<uint64_t>(1, usable / (layout.stride + 2 * output_bytes));
  const uint64_t by_page = std::min<uint64_t>(kMaxCalls, kMaxPlaces / std::max<size_t>(1, layout.outputs.size()));
  const auto by_time = static_cast<uint64_t>(std::max(1.0, kMaxWindowUs / slow_us));
  const auto wanted = static_cast<uint64_t>(std::ceil(window_us / fast_us));

  WindowPlan plan;
  plan.calls = std::max<uint64_t>(1, std::min({wanted, by_memory, by_page, by_time}));
  plan.sets = plan.calls;
  if (profile.cache == "cold") {
    const uint64_t rotating = kColdPerHot * host.hot_bytes / layout.stride + 1;
    plan.sets = std::max<uint64_t>(plan.calls, std::min(rotating, by_memory));
  }
  plan.hot = plan.sets * layout.stride <= host.hot_bytes;
  const double length_us = fast_us * static_cast<double>(plan.calls);
  plan.resolution_limited =
      host.handshake_us * kWindowPerHandshake > length_us || host.handover_bound_us * kWindowPerHandover > length_us;
  return plan;
}

}  // namespace touchstone

#ifndef TOUCHSTONE_ENV_EPISODE_FEEDBACK_H_
#define TOUCHSTONE_ENV_EPISODE_FEEDBACK_H_

#include <string>
#include <string_view>

#include "reward/result.h"

namespace touchstone {

// Text for a policy on its last candidate, by the class of the outcome. `view` must be a PublicView: what it holds may
// be told (V14). `feedback` is "full", "class" (the first sentence alone) or "none" (nothing).
std::string FeedbackOn(const EvalResult& view, std::string_view feedback);

// What a policy may do next, one sentence or two.
std::string AdviceAfter(EvalStatus status, bool faster);

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_FEEDBACK_H_

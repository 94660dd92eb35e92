#ifndef TOUCHSTONE_TESTS_ENV_EPISODE_DESCRIBE_H_
#define TOUCHSTONE_TESTS_ENV_EPISODE_DESCRIBE_H_

#include <string>

#include "env/messages.h"

namespace touchstone {

// All of a reply as text: what is equal here is equal.
std::string Describe(const ResetReply& reply);
std::string Describe(const StepReply& reply);
std::string Describe(const ScoreReply& reply);
std::string Describe(const ValidateReply& reply);

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_ENV_EPISODE_DESCRIBE_H_

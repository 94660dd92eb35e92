// What every environment must do, whatever the task and whatever evaluates.
#ifndef TOUCHSTONE_TESTS_CONFORMANCE_SUITE_H_
#define TOUCHSTONE_TESTS_CONFORMANCE_SUITE_H_

#include <memory>
#include <string>
#include <vector>

#include "env/env.h"
#include "tests/rollout/store_fixture.h"

namespace touchstone {

class Conformance {
 public:
  // `right` and `wrong` are candidates for the task; `profile` measures them.
  Conformance(Evaluations& evaluations, std::string task, std::string profile, std::string right, std::string wrong);

  void SameSeedGivesTheSameTaskExemplarsAndTexts();
  void StepAfterTheEndFails();
  void WhatIsStoredDecodesToWhatWasMeant();
  void ABadStepChangesNothing();
  void RewardsStayInTheirRange(const std::vector<std::string>& presets);

 private:
  RequestKey NextKey() { return {"conformance", std::to_string(++requests_)}; }
  ResetRequest ForReset(int max_turns);

  const std::string task_;
  const std::string profile_;
  const std::string right_;
  const std::string wrong_;
  TempFolder folder_;
  std::unique_ptr<RolloutStore> store_;
  std::unique_ptr<RolloutSelector> selector_;
  std::unique_ptr<Environment> environment_;
  int requests_ = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_CONFORMANCE_SUITE_H_

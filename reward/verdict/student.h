#ifndef TOUCHSTONE_REWARD_VERDICT_STUDENT_H_
#define TOUCHSTONE_REWARD_VERDICT_STUDENT_H_

namespace touchstone {

// The two-sided quantile of Student's t: |t| stays below it with probability `confidence` (in (0, 1)). `degrees` ≥ 1
// need not be whole.
double StudentQuantile(double confidence, double degrees);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_VERDICT_STUDENT_H_

#ifndef TOUCHSTONE_REWARD_PUBLIC_VIEW_H_
#define TOUCHSTONE_REWARD_PUBLIC_VIEW_H_

#include "reward/result.h"

namespace touchstone {

// What a policy may be told of a result (design: V14): enough to write a better kernel, nothing that would help to fool
// the judge. Magnitudes of errors and findings are rounded to powers of two. Trials whose inputs are secret (hidden
// ones, and the calls of windows and solos) become one row a kind that says only whether they passed; `kind` is
// "hidden", "window" or "solo" there. Key, rounds, time budget, calibration, isolation layers and the times of the
// baseline alone are removed: they have the values of an empty EvalResult. Pure; the view of a view is itself.
//
// tests/reward/public_view_test.cc lists for every field what becomes of it.
EvalResult PublicView(const EvalResult& result);

// The power of two next to `value` (in its logarithm), with its sign; 0 and what is not finite stay as they are.
double RoundToPowerOfTwo(double value);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_PUBLIC_VIEW_H_

// The folder cpp/ as a table: every candidate with what must become of it, why, and what shows that it is an attack.
#ifndef TOUCHSTONE_TESTS_HOSTILE_CANDIDATES_H_
#define TOUCHSTONE_TESTS_HOSTILE_CANDIDATES_H_

#include <set>
#include <string>
#include <vector>

#include "reward/result.h"

namespace touchstone {

// What shows that a harness without our protections falls for it.
enum class Control {
  kNone,               // a fault rather than an attack, or a test of its own has the control
  kAccepted,           // JudgeNaively accepts it
  kAcceptedByRefLast,  // … when it computes the reference last
  kRewarded,           // … and finds it at least twice as fast as the honest twin
  kHandOver,           // without the charge for the hand-over its windows would be faster than the twin's
  kFreezer,            // without the freezer it is faster than the twin
  kLoad,               // without freezer and cores of its own, the baseline is slower beside it
  kFileSystem,         // in a box that sees the host's files it does not pass
  kFilter,             // in a box without a system call filter it does not pass
};

struct HostileCase {
  std::string file;  // below cpp/, without ".cc"
  std::string task;
  bool timed = false;             // with test_profile.yaml; otherwise the same without rounds
  std::set<EvalStatus> expected;  // with kSuccess in it: right, and paid as the honest twin at most
  std::string evidence;           // an id that must be there; empty: none is asked for
  Control control = Control::kNone;
  std::string twin;  // honest, below cpp/

  // "WritesPastTheOutput_is_incorrect", "BatchesCalls_is_paid_as_honest".
  std::string Name() const;
};

const std::vector<HostileCase>& HostileCases();

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_HOSTILE_CANDIDATES_H_

// The processes below this one, by what they are in an evaluation.
#ifndef TOUCHSTONE_TESTS_HOSTILE_PROCESS_TREE_H_
#define TOUCHSTONE_TESTS_HOSTILE_PROCESS_TREE_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace touchstone {

enum class Role { kSpawner, kBoxInit, kJudge, kCandidate, kReference, kCompiler, kOther };

struct FoundProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  Role role = Role::kOther;
  bool zombie = false;
  std::string name;
};

// Makes this process the parent of what its descendants leave, so that a spawner, which forks twice, stays below it.
void AdoptOrphans();

// All descendants of this process; never anybody else's.
std::vector<FoundProcess> Descendants();

// Waits for processes that have ended and were left to this one; only where this one waits for no child of its own but
// the judge, whose evaluator does.
void ReapOrphans();

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_HOSTILE_PROCESS_TREE_H_

// Hostile programs for boxes: `hostile-box ATTACK [ARGUMENT…]`. Each attack says by its exit code what became of it.
// All loads are bounded: without any protection an attack does a little harm to its own process and ends.
#ifndef TOUCHSTONE_TESTS_HOSTILE_BOX_ATTACK_H_
#define TOUCHSTONE_TESTS_HOSTILE_BOX_ATTACK_H_

#include <cerrno>
#include <cstdio>
#include <cstring>

// Exit codes; any other one means that the program itself is broken.
inline constexpr int kSucceeded = 10;
inline constexpr int kStopped = 20;

struct Attack {
  const char* name;
  int (*run)(int argc, char** argv);  // the arguments after the attack's name
};

// One table for each file, ended by a null name.
extern const Attack kResourceAttacks[];
extern const Attack kFileAttacks[];
extern const Attack kProcessAttacks[];
extern const Attack kKernelAttacks[];

// Says what happened, for the log of a failing test.
inline int Judge(const char* what, bool succeeded) {
  if (succeeded) {
    std::printf("%s: open\n", what);
  } else {
    std::printf("%s: %s\n", what, std::strerror(errno));
  }
  return succeeded ? kSucceeded : kStopped;
}

// Several attempts of one kind: it succeeded when one of them did.
class Attempts {
 public:
  void Add(const char* what, bool succeeded) { any_ = Judge(what, succeeded) == kSucceeded || any_; }
  int Result() const { return any_ ? kSucceeded : kStopped; }

 private:
  bool any_ = false;
};

#endif  // TOUCHSTONE_TESTS_HOSTILE_BOX_ATTACK_H_

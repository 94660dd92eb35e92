#ifndef TOUCHSTONE_TESTS_FUZZ_EXPECT_H_
#define TOUCHSTONE_TESTS_FUZZ_EXPECT_H_

#include <cstdio>
#include <cstdlib>

// Ends the process, which libFuzzer takes for a finding, when a property does not hold.
#define FUZZ_EXPECT(condition)                                                            \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

#endif  // TOUCHSTONE_TESTS_FUZZ_EXPECT_H_

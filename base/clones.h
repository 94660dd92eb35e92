#ifndef TOUCHSTONE_BASE_CLONES_H_
#define TOUCHSTONE_BASE_CLONES_H_

// Marks a function to be built for several instruction sets, the best of which is taken at run time. By GCC alone, and
// not under sanitizers; elsewhere the function is built once.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TOUCHSTONE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TOUCHSTONE_CLONES
#endif

#endif  // TOUCHSTONE_BASE_CLONES_H_

// Ends itself by SIGABRT.
#include <cstdlib>
extern "C" void run(const float*, const float*, float*, int64_t) { std::abort(); }

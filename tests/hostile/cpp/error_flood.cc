#define TEN(x) x x x x x x x x x x
TEN(TEN(TEN(TEN(int 1 wrong;))))
extern "C" void run(const float*, const float*, float*, int64_t) {}

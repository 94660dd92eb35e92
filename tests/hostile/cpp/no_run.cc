extern "C" void walk(const float*, const float*, float*, int64_t) {}

// Exits with 0 when it can load the library that its argument names.
#include <dlfcn.h>

int main(int argc, char** argv) { return argc == 2 && ::dlopen(argv[1], RTLD_NOW) != nullptr ? 0 : 1; }

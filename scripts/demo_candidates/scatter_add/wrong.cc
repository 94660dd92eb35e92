// Wrong: an index that occurs twice counts once.
#include <cstring>
extern "C" void run(const float* base, const int64_t* index, const float* src, float* y, int64_t rows, int64_t cols,
                    int64_t updates) {
  std::memcpy(y, base, rows * cols * sizeof(float));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < updates; ++k) {
      const int64_t c = index[r * updates + k];
      y[r * cols + c] = base[r * cols + c] + src[r * updates + k];
    }
  }
}

// A plain loop: the rows fit into the first cache.
#include <cstring>
extern "C" void run(const float* base, const int64_t* index, const float* src, float* y, int64_t rows, int64_t cols,
                    int64_t updates) {
  for (int64_t r = 0; r < rows; ++r) {
    float* row = y + r * cols;
    std::memcpy(row, base + r * cols, cols * sizeof(float));
    for (int64_t k = 0; k < updates; ++k) row[index[r * updates + k]] += src[r * updates + k];
  }
}

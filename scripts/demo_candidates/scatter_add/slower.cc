// Right, but collects the updates of a row in a tree first.
#include <map>
extern "C" void run(const float* base, const int64_t* index, const float* src, float* y, int64_t rows, int64_t cols,
                    int64_t updates) {
  for (int64_t r = 0; r < rows; ++r) {
    std::map<int64_t, float> sums;
    for (int64_t k = 0; k < updates; ++k) sums[index[r * updates + k]] += src[r * updates + k];
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] = base[r * cols + c];
    for (const auto& [c, sum] : sums) y[r * cols + c] += sum;
  }
}

// One pass over the distances from the row's first element, in 16 partial sums: as far as that is from the mean, few
// digits cancel.
extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
  constexpr int64_t kLanes = 16;
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x + r * cols;
    const float shift = from[0];
    float sums[kLanes] = {};
    float squares[kLanes] = {};
    int64_t c = 0;
    for (; c + kLanes <= cols; c += kLanes) {
      for (int64_t l = 0; l < kLanes; ++l) {
        const float distance = from[c + l] - shift;
        sums[l] += distance;
        squares[l] += distance * distance;
      }
    }
    double sum = 0;
    double square = 0;
    for (; c < cols; ++c) {
      const float distance = from[c] - shift;
      sum += distance;
      square += distance * distance;
    }
    for (int64_t l = 0; l < kLanes; ++l) {
      sum += sums[l];
      square += squares[l];
    }
    const double n = static_cast<double>(cols);
    y[r] = static_cast<float>((square - sum * sum / n) / (n - 1));
  }
}
